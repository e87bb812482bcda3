// Entered only where the processor has AVX2; empty on other machines.
#include "posterior/log_loops.hpp"

namespace bestdag::detail {

#if defined(__AVX2__)
AddLogs add_logs_avx2() noexcept { return &LogLoop<32>::add; }
#else
AddLogs add_logs_avx2() noexcept { return nullptr; }
#endif

}  // namespace bestdag::detail
