// How one thread tells others that work for it to stop.
#include "bindings/running.hpp"

namespace {

struct StopSign {
    StopWord word = false;
};

}  // namespace

void register_stop_word(nb::module_& m) {
    nb::class_<StopSign>(m, "StopSign")
        .def(nb::init<>())
        .def(
            "heed", [](const StopSign& self) { told_to_stop = &self.word; },
            "From now on native work of this thread raises KeyboardInterrupt once the sign is "
            "given; the sign must outlive the thread.")
        .def(
            "give", [](StopSign& self) { self.word = true; },
            "Tell the threads that heed this sign to stop.");
}
