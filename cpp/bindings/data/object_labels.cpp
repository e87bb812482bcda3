#include "bindings/data/object_labels.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/data/array_interface.hpp"

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocksPerLook = 16;
constexpr std::size_t kAhead = 16;

std::string name_of_type(nb::handle item) {
    return nb::cast<std::string>(nb::str(item.type().attr("__name__")));
}

// None, and what differs from itself: NaN, NaT, and a package's own null, which has no truth value.
bool is_absent(nb::handle item) {
    if (item.is_none()) return true;
    if (PyUnicode_CheckExact(item.ptr())) return false;
    PyObject* const differs = PyObject_RichCompare(item.ptr(), item.ptr(), Py_NE);
    const int answer = differs ? PyObject_IsTrue(differs) : -1;
    Py_XDECREF(differs);
    if (answer >= 0) return answer == 1;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
        throw nb::python_error();
    }
    PyErr_Clear();
    return name_of_type(item) == "NAType";
}

}  // namespace

ObjectLabels::ObjectLabels(bestdag::CodeColumn& codes,
                           const std::vector<nb::str>& missing_values, std::size_t n_hashes)
    : codes_(codes), n_hashes_(n_hashes) {
    for (const nb::str& mark : missing_values) places_[mark] = bestdag::kMissingCode;
}

void ObjectLabels::add(const nb::object& items) {
    if (PyList_Check(items.ptr())) {
        const auto n = static_cast<std::size_t>(PyList_Size(items.ptr()));
        add_items(n, [&](std::size_t i) {
            // Borrowed; a list that shrank meanwhile raises.
            PyObject* const item = PyList_GetItem(items.ptr(), static_cast<Py_ssize_t>(i));
            if (!item) throw nb::python_error();
            return nb::handle(item);
        });
        return;
    }
    const ArrayInterface array(items, "O");
    const auto item_at = [&](std::size_t i) {
        return *reinterpret_cast<PyObject* const*>(
            array.data + static_cast<std::ptrdiff_t>(i) * array.stride);
    };
    add_items(array.size, [&](std::size_t i) {
        // Where each is an object of its own, most are far away.
        if (i + kAhead < array.size) __builtin_prefetch(item_at(i + kAhead));
        PyObject* const item = item_at(i);
        return nb::handle(item ? item : Py_None);  // an array that nobody filled
    });
}

template <class ItemAt>
void ObjectLabels::add_items(std::size_t n, ItemAt&& item_at) {
    std::array<std::uint32_t, kBlock> block;
    for (std::size_t start = 0, n_blocks = 0; start < n; start += kBlock) {
        const std::size_t size = std::min(kBlock, n - start);
        for (std::size_t i = 0; i < size; ++i) block[i] = code(item_at(start + i));
        codes_.append({block.data(), size});
        if (++n_blocks % kBlocksPerLook == 0 && PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
    }
}

std::uint32_t ObjectLabels::code(nb::handle item) {
    const auto address = reinterpret_cast<std::uintptr_t>(item.ptr());
    Known& known = known_[(address >> 4 ^ address >> 14) % kRemembered];
    if (known.object.ptr() == item.ptr()) return known.code;
    nb::object object = nb::borrow(item);
    const std::uint32_t code = looked_up(object);
    // Whatever Python code ran, this place is still the one of the address.
    known.code = code;
    known.object = std::move(object);
    return code;
}

std::uint32_t ObjectLabels::looked_up(nb::handle item) {
    if (PyBool_Check(item.ptr())) {  // equal to 0 and 1, and another state
        std::uint32_t& code = bools_[item.ptr() == Py_True];
        if (code == bestdag::kOtherCode) code = new_code(item);
        return code;
    }
    if (is_absent(item)) return bestdag::kMissingCode;
    PyObject* const found = PyDict_GetItemWithError(places_.ptr(), item.ptr());
    if (found) return nb::cast<std::uint32_t>(nb::handle(found));
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
        PyErr_Clear();
        throw nb::type_error(name_of_type(item).c_str());
    }
    const std::uint32_t code = new_code(item);
    if (code != bestdag::kOtherCode) places_[item] = code;
    return code;
}

std::uint32_t ObjectLabels::new_code(nb::handle item) {
    const auto hash_of = [](nb::handle value) {
        // -1 and -2 have one hash, so whole numbers stand for themselves.
        long long number = PyLong_CheckExact(value.ptr()) ? PyLong_AsLongLong(value.ptr()) : -1;
        if (number == -1 && (PyErr_Occurred() || !PyLong_CheckExact(value.ptr()))) {
            PyErr_Clear();
            number = PyObject_Hash(value.ptr());
        }
        const std::uint64_t kind = PyBool_Check(value.ptr()) ? 1 : 0;
        return bestdag::mixed(static_cast<std::uint64_t>(number) ^ bestdag::kMix0,
                              bestdag::kMix1 ^ kind);
    };
    if (!codes_.may_add()) {
        counter_->add(hash_of(item));
        return bestdag::kOtherCode;
    }
    labels_.append(item);
    codes_.added();
    if (!codes_.may_add()) {
        counter_ = std::make_unique<bestdag::DistinctCounter>(n_hashes_);
        for (const nb::handle label : labels_) counter_->add(hash_of(label));
    }
    return static_cast<std::uint32_t>(labels_.size());
}
