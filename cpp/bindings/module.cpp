// The private module behind bestdag: one register_* per concept, each in its own file.
#include "bindings/common.hpp"

void register_sampling(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Native kernels of bestdag; private, called in bulk by the Python layers.";
    register_sampling(m);
}
