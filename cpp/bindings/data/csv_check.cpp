#include "data/csv_check.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>

#include "bindings/common.hpp"

void register_csv_check(nb::module_& m) {
    nb::class_<bestdag::CsvCheck>(m, "CsvCheck",
                                  "Whether a CSV file is plain; see kernels/data/csv_check.hpp.")
        .def(
            "__init__",
            [](bestdag::CsvCheck* self, char separator, std::size_t n_columns) {
                if (static_cast<unsigned char>(separator) > 127 || separator == '"' ||
                    separator == '\n' || separator == '\r' || separator == '\0') {
                    throw std::invalid_argument("the separator must be an ASCII character");
                }
                new (self) bestdag::CsvCheck(separator, n_columns);
            },
            "separator"_a, "n_columns"_a)
        .def(
            "add",
            [](bestdag::CsvCheck& self, const nb::bytes& piece) {
                const nb::gil_scoped_release unlocked;
                return self.add({static_cast<const unsigned char*>(piece.data()), piece.size()});
            },
            "piece"_a)
        .def("is_plain", &bestdag::CsvCheck::is_plain);
}
