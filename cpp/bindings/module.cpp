// The private module behind bestdag: one register_* per concept, each in its own file.
#include "bindings/common.hpp"

void register_branching(nb::module_& m);
void register_candidate_sets(nb::module_& m);
void register_branch_and_cut(nb::module_& m);
void register_class_walk(nb::module_& m);
void register_climb(nb::module_& m);
void register_counts(nb::module_& m);
void register_entropy_cuts(nb::module_& m);
void register_every_set(nb::module_& m);
void register_local_scores(nb::module_& m);
void register_order_crew(nb::module_& m);
void register_order_search(nb::module_& m);
void register_row_tables(nb::module_& m);
void register_sampling(nb::module_& m);
void register_scores(nb::module_& m);
void register_special(nb::module_& m);
void register_subset_dp(nb::module_& m);
void register_tables(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Native kernels of bestdag; private, called in bulk by the Python layers.";
    register_special(m);
    register_tables(m);
    register_counts(m);
    register_scores(m);
    register_sampling(m);
    register_row_tables(m);
    register_subset_dp(m);
    register_every_set(m);
    register_order_search(m);
    register_order_crew(m);
    register_branch_and_cut(m);
    register_local_scores(m);
    register_candidate_sets(m);
    register_class_walk(m);
    register_climb(m);
    register_entropy_cuts(m);
    register_branching(m);
}
