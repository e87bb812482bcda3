// Entered only where the processor has AVX2; empty on other machines.
#include "exact/subset_dp.hpp"

#if defined(__AVX2__)

namespace bestdag::detail {

namespace {
constexpr BlockLoops<std::uint32_t> kNarrow = Loops<std::uint32_t, 32>::table("avx2");
constexpr BlockLoops<double> kWide = Loops<double, 32>::table("avx2");
}  // namespace

const BlockLoops<std::uint32_t>* narrow_loops_avx2() noexcept { return &kNarrow; }
const BlockLoops<double>* wide_loops_avx2() noexcept { return &kWide; }

}  // namespace bestdag::detail

#else

namespace bestdag::detail {
const BlockLoops<std::uint32_t>* narrow_loops_avx2() noexcept { return nullptr; }
const BlockLoops<double>* wide_loops_avx2() noexcept { return nullptr; }
}  // namespace bestdag::detail

#endif
