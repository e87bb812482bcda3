// Flat arrays of local scores as Python sees them.
#pragma once

#include "bindings/types.hpp"
#include "scoring/local_scores.hpp"

using LocalScoresTuple = nb::typed<nb::tuple, nb::any, nb::any, nb::any, nb::any>;

// (first_sets, scores, offsets, members)
LocalScoresTuple to_python(bestdag::LocalScores&& scores);
