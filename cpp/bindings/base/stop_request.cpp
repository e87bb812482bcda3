#include "bindings/running.hpp"

void register_stop_request(nb::module_& m) {
    nb::class_<StopRequest>(m, "StopRequest",
                            "Ends native work of the threads that listen; see "
                            "bindings/running.hpp.")
        .def(nb::init<>())
        .def("listen", &StopRequest::listen, "Let this thread obey the request from now on.")
        .def("send", &StopRequest::send);
}
