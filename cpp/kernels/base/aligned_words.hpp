// Words of bitmaps, laid out so that no vector load straddles two cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace bestdag {

inline constexpr std::size_t kLineWords = 8;

template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
    }
    void deallocate(T* items, std::size_t) noexcept { ::operator delete(items, kAlignment); }

    template <class U>
    bool operator==(const LineAllocator<U>&) const noexcept {
        return true;
    }

private:
    static constexpr std::align_val_t kAlignment{kLineWords * sizeof(std::uint64_t)};
};

using AlignedWords = std::vector<std::uint64_t, LineAllocator<std::uint64_t>>;

}  // namespace bestdag
