// Every score with a native twin, one line each: its name, its settings and their names in Python.
// The name stands for scores/NAME.cpp, which defines make_NAME(settings), for src/bestdag/scores/
// NAME.py, and for the function NAME(settings) of the native module. Settings are numbers or flags;
// scores bound to the variables of the data (bd_tables.hpp, bde.hpp) have headers of their own.
#pragma once

#include "scores/kernel.hpp"

// clang-format off
#define BESTDAG_SCORES(SCORE)                                            \
    SCORE(ll, ())                                                        \
    SCORE(aic, ())                                                       \
    SCORE(bic, ())                                                       \
    SCORE(hqc, ())                                                       \
    SCORE(pnal, (double scale, double exponent), "scale", "exponent")    \
    SCORE(fnml, ())                                                      \
    SCORE(qnml, (bool is_exact), "is_exact")                             \
    SCORE(mit, (double confidence), "confidence")                        \
    SCORE(bd, (double pseudo_count), "pseudo_count")                     \
    SCORE(bdq, (double pseudo_count), "pseudo_count")                    \
    SCORE(bdeu, (double ess), "ess")                                     \
    SCORE(min_bdeu, (double ess, double epsilon), "ess", "epsilon")      \
    SCORE(max_bdeu, (double ess, double epsilon), "ess", "epsilon")
// clang-format on

namespace bestdag {

#define BESTDAG_DECLARE(name, settings, ...) Kernel make_##name settings;
BESTDAG_SCORES(BESTDAG_DECLARE)
#undef BESTDAG_DECLARE

}  // namespace bestdag
