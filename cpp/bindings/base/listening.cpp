// Who is told, now and then, that native work goes on.
#include "bindings/common.hpp"
#include "bindings/running.hpp"

void register_listening(nb::module_& m) {
    m.def(
        "set_listener",
        [](nb::object listens) -> nb::object {
            nb::object before = listener == nullptr ? nb::none() : nb::steal<nb::object>(listener);
            listener = listens.is_none() ? nullptr : listens.release().ptr();
            return before;
        },
        "listener"_a.none(),
        "Let this thread call a function while it waits for native work; returns the one before.");
}
