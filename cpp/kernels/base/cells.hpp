// Large uninitialised arrays, in huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bestdag {

template <class T>
class Cells {
public:
    explicit Cells(std::size_t count) {
        if (count == 0) return;
        constexpr std::size_t kHugePage = std::size_t{1} << 21;
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T) - kHugePage) {
            throw std::bad_alloc();
        }
        const std::size_t alignment = count * sizeof(T) >= kHugePage ? kHugePage : 64;
        const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
        data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
        if (!data_) throw std::bad_alloc();
#if defined(__linux__)
        // A hint: without huge pages, walks through distant blocks miss the address cache on each.
        if (alignment == kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    }

    ~Cells() { std::free(data_); }
    Cells(const Cells&) = delete;
    Cells& operator=(const Cells&) = delete;

    T* data() const { return data_; }

private:
    T* data_ = nullptr;
};

}  // namespace bestdag
