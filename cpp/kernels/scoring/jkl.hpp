// The field's text format for local scores (.jkl, .scores), read and written.
//
//     n                                  number of variables
//     name m                             for each variable: its name and number of sets,
//     score k parent ... parent          then m lines, each a score and k names
//
// Words are separated by blanks; empty lines are skipped; lines that begin with '#' or META may
// come before the first number. A name is any word, also one that looks like a number.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "scoring/local_scores.hpp"

namespace bestdag {

// A text that does not follow the format; says line and column.
class JklError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct NamedScores {
    std::vector<std::string> names;
    LocalScores scores;
};

// Requires UTF-8. Throws JklError. Memory follows the length of the text, whatever it claims.
NamedScores parse_jkl(std::string_view text, const Execution& execution);

// Scores are written with as few digits as give the same number when read.
std::string format_jkl(std::span<const std::string> names, const LocalScoresView& scores);

}  // namespace bestdag
