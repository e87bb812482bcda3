// The private module behind bestdag. Each file in a folder of bindings, which are those of the
// kernels, has a function register_NAME.
#include "bindings/common.hpp"

// Every NAME, once, in the order of the folders. A type comes before functions that return it.
// clang-format off
#define BESTDAG_BINDINGS(BINDING)     \
    BINDING(listening)                \
    BINDING(special)                  \
    BINDING(graph_chain)              \
    BINDING(tables)                   \
    BINDING(counts)                   \
    BINDING(row_tables)               \
    BINDING(missing)                  \
    BINDING(independence)             \
    BINDING(elimination)              \
    BINDING(junction_tree)            \
    BINDING(scores)                   \
    BINDING(families)                 \
    BINDING(score_counts)             \
    BINDING(missing_posterior)        \
    BINDING(candidate_sets)           \
    BINDING(local_scores)             \
    BINDING(climb)                    \
    BINDING(class_walk)               \
    BINDING(branching)                \
    BINDING(order_search)             \
    BINDING(order_crew)               \
    BINDING(subset_dp)                \
    BINDING(subset_engine)            \
    BINDING(every_set)                \
    BINDING(branch_and_cut)           \
    BINDING(frontier_search)          \
    BINDING(near_best)                \
    BINDING(posterior)                \
    BINDING(entropy_cuts)             \
    BINDING(sampling)                 \
    BINDING(column_encoder)           \
    BINDING(csv_check)
// clang-format on

#define BESTDAG_DECLARE(name) void register_##name(nb::module_& m);
BESTDAG_BINDINGS(BESTDAG_DECLARE)

NB_MODULE(_core, m) {
    m.doc() = "Native kernels of bestdag; private, called in bulk by the Python layers.";
#define BESTDAG_REGISTER(name) register_##name(m);
    BESTDAG_BINDINGS(BESTDAG_REGISTER)
}
