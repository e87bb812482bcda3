// What every file of checks needs: counting what does not hold, and saying so.
#pragma once

#include <cstdio>

inline int failures = 0;

inline void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "FAILED: %s\n", what);
    ++failures;
}

// The exit code of a file of checks.
inline int report() {
    std::printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures ? 1 : 0;
}
