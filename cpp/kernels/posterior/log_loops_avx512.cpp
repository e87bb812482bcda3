// Entered only where the processor has AVX-512; empty on other machines.
#include "posterior/log_loops.hpp"

namespace bestdag::detail {

#if defined(__AVX512F__)
AddLogs add_logs_avx512() noexcept { return &LogLoop<64>::add; }
#else
AddLogs add_logs_avx512() noexcept { return nullptr; }
#endif

}  // namespace bestdag::detail
