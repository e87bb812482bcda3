// Tables as other libraries hand them over: the Arrow C data and stream interfaces.
// https://arrow.apache.org/docs/format/CDataInterface.html, .../CStreamInterface.html
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace bestdag {

// The three structs are laid out as the specification says.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

// What a stream said when it could not go on.
class StreamError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A column of a type that is not read.
class TypeError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A schema or an array that is released when nobody needs it any more.
template <class T>
class Released {
public:
    Released() = default;
    ~Released() {
        if (value_.release) value_.release(&value_);
    }
    Released(Released&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    Released& operator=(Released&&) = delete;

    T& operator*() noexcept { return value_; }
    const T& operator*() const noexcept { return value_; }
    const T* operator->() const noexcept { return &value_; }
    explicit operator bool() const noexcept { return value_.release != nullptr; }

private:
    T value_{};
};

// The schema of a stream, and its next batch (false at the end). Throw StreamError.
Released<ArrowSchema> schema_of(ArrowArrayStream& stream);
Released<ArrowArray> next_batch(ArrowArrayStream& stream);

}  // namespace bestdag
