#include "bindings/common.hpp"

void register_sampling(nb::module_&) {}
