// Entered only where the processor has AVX-512; empty on other machines.
#include "exact/subset_dp.hpp"

#if defined(__AVX512F__)

namespace bestdag::detail {

namespace {
constexpr BlockLoops<std::uint32_t> kNarrow = Loops<std::uint32_t, 64>::table("avx512");
constexpr BlockLoops<double> kWide = Loops<double, 64>::table("avx512");
}  // namespace

const BlockLoops<std::uint32_t>* narrow_loops_avx512() noexcept { return &kNarrow; }
const BlockLoops<double>* wide_loops_avx512() noexcept { return &kWide; }

}  // namespace bestdag::detail

#else

namespace bestdag::detail {
const BlockLoops<std::uint32_t>* narrow_loops_avx512() noexcept { return nullptr; }
const BlockLoops<double>* wide_loops_avx512() noexcept { return nullptr; }
}  // namespace bestdag::detail

#endif
