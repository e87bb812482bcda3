#include "scoring/jkl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/decimal.hpp"
#include "base/parallel.hpp"
#include "base/word_numbers.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerByte = 8.0;  // measured
constexpr std::size_t kMaxShown = 40;        // bytes of a word in a message

// What separates words (1) and ends lines (2).
constexpr std::array<std::uint8_t, 256> kinds_of_characters() {
    std::array<std::uint8_t, 256> kinds{};
    for (const char c : {' ', '\t', '\r', '\v', '\f'}) kinds[static_cast<unsigned char>(c)] = 1;
    kinds['\n'] = 2;
    return kinds;
}
constexpr auto kKinds = kinds_of_characters();

bool is_blank(char c) { return kKinds[static_cast<unsigned char>(c)] == 1; }
bool ends_word(char c) { return kKinds[static_cast<unsigned char>(c)] != 0; }

// A word for a message: on one line, not too long, never cut inside a character.
std::string shown(std::string_view word) {
    std::size_t size = std::min(word.size(), kMaxShown);
    while (size < word.size() && size > 0 && (word[size] & 0xC0) == 0x80) --size;
    std::string text = "'";
    text += word.substr(0, size);
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    }
    text += size < word.size() ? "...'" : "'";
    return text;
}

std::string plural(std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

class Parser {
public:
    Parser(std::string_view text, const StopFlag& stop) : text_(text), stop_(stop) {}

    NamedScores parse() {
        if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // byte order mark
        const std::size_t n_variables = header();
        for (std::size_t i = 0; i < n_variables; ++i) {
            check(stop_);
            variable(i, n_variables);
        }
        if (next_line()) {
            fail(line_, "the " + plural(n_variables, "variable") +
                            " announced in the first line are complete, but more follows");
        }
        if (text_.back() != '\n') {
            fail(text_.size(),
                 "the last line has no end: the file may be cut short; add a newline "
                 "if it is complete");
        }
        name_members();
        return {std::move(names_), std::move(out_)};
    }

private:
    [[noreturn]] void fail(std::size_t position, const std::string& message) const {
        const std::string_view before = text_.substr(0, position);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
        throw JklError("line " + std::to_string(line) + ", column " +
                       std::to_string(position - start + 1) + ": " + message);
    }
    [[noreturn]] void fail(std::string_view word, const std::string& message) const {
        fail(static_cast<std::size_t>(word.data() - text_.data()), message);
    }

    // Go to the next line that is not blank; line_ is where its first word begins.
    bool next_line() {
        while (at_ < text_.size() && ends_word(text_[at_])) ++at_;
        line_ = at_;
        return at_ < text_.size();
    }

    // The next word of this line; empty at its end.
    std::string_view word() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
        const std::size_t first = at_;
        while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
        return text_.substr(first, at_ - first);
    }

    void skip_line() {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
    }

    void end_of_line(const std::string& expected) {
        const std::string_view extra = word();
        if (!extra.empty()) fail(extra, expected + ", got " + shown(extra) + " too");
    }

    // A whole number, or an error that says what was needed.
    std::size_t whole(std::string_view text, const char* needed) {
        std::uint64_t value = 0;
        if (text.empty()) {
            fail(at_, std::string("the line ends where ") + needed + " was needed");
        }
        if (!read_whole(text, value)) {
            fail(text, std::string(needed) + " was needed, got " + shown(text));
        }
        return value;
    }

    std::size_t header() {
        while (next_line() && (text_[at_] == '#' || text_.substr(at_, 4) == "META")) skip_line();
        if (at_ == text_.size()) fail(at_, "the file is empty");
        const std::string_view first = word();
        const std::size_t n = whole(first, "the number of variables");
        if (n == 0) fail(first, "at least one variable is needed, got 0");
        if (n > kMaxVariables) {
            fail(first, "at most " + std::to_string(kMaxVariables) +
                            " variables are possible, got " + shown(first));
        }
        end_of_line("the first line is the number of variables");
        return n;
    }

    void variable(std::size_t number, std::size_t n_variables) {
        if (!next_line()) {
            fail(at_, "the file ends after " + std::to_string(number) + " of " +
                          plural(n_variables, "variable"));
        }
        const std::string_view name = word();
        const std::string_view count = word();
        const char* const needed = "a variable's name and its number of parent sets";
        const std::size_t n_sets = whole(count, needed);
        end_of_line(std::string("a line here is ") + needed);
        if (n_sets == 0) fail(count, "variable " + shown(name) + " has no parent set");
        if (!numbers_.add(name)) fail(name, "variable " + shown(name) + " comes twice");
        names_.emplace_back(name);
        for (std::size_t k = 0; k < n_sets; ++k) {
            if ((k & 0xFFFF) == 0) check(stop_);
            if (!next_line()) {
                fail(at_, "the file ends after " + std::to_string(k) + " of " +
                              plural(n_sets, "parent set") + " of " + shown(name));
            }
            set();
        }
        out_.first_sets.push_back(static_cast<std::int64_t>(out_.scores.size()));
    }

    void set() {
        const std::string_view score = word();
        double value = 0.0;
        if (!read_double(score, value) || !std::isfinite(value)) {
            fail(score, "a score must be a finite number, got " + shown(score));
        }
        const std::size_t n_parents = whole(word(), "a score and a number of parents");
        for (std::size_t k = 0; k < n_parents; ++k) {
            const std::string_view parent = word();
            if (parent.empty()) {
                fail(at_,
                     plural(n_parents, "parent") + " announced, " + std::to_string(k) + " listed");
            }
            words_.push_back(parent);
        }
        const std::string_view extra = word();  // messages are made only when needed
        if (!extra.empty()) {
            fail(extra, plural(n_parents, "parent") + " announced, got " + shown(extra) + " too");
        }
        out_.scores.push_back(value);
        out_.offsets.push_back(static_cast<std::int64_t>(words_.size()));
    }

    // A parent may be named before its own lines come: names become numbers at the end.
    void name_members() {
        out_.members.resize(words_.size());
        for (std::size_t child = 0; child < names_.size(); ++child) {
            check(stop_);
            SetsSeen seen(out_);
            for (auto k = out_.first_sets[child]; k < out_.first_sets[child + 1]; ++k) {
                const auto set = static_cast<std::size_t>(k);
                name_set(child, set);
                if (!seen.add(set)) {
                    fail(line_of(set),
                         "variable " + shown(names_[child]) + " has this parent set twice");
                }
            }
        }
    }

    void name_set(std::size_t child, std::size_t set) {
        const auto first = static_cast<std::size_t>(out_.offsets[set]);
        const auto last = static_cast<std::size_t>(out_.offsets[set + 1]);
        for (std::size_t i = first; i < last; ++i) {
            const std::int32_t number = numbers_.find(words_[i]);
            if (number < 0) fail(words_[i], "unknown parent " + shown(words_[i]));
            if (number == static_cast<std::int32_t>(child)) {
                fail(words_[i], "variable " + shown(words_[i]) + " cannot be its own parent");
            }
            // Insertion keeps the members ascending; sets are short.
            std::size_t at = i;
            for (; at > first && out_.members[at - 1] >= number; --at) {
                if (out_.members[at - 1] == number) {
                    fail(words_[i], "parent " + shown(words_[i]) + " is listed twice");
                }
                out_.members[at] = out_.members[at - 1];
            }
            out_.members[at] = number;
        }
    }

    // Where the line of a set begins: only errors ask.
    std::size_t line_of(std::size_t set) {
        at_ = text_.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
        header();
        std::size_t child = 0;
        for (std::size_t k = 0;; ++k) {
            skip_line();
            next_line();
            if (static_cast<std::int64_t>(k) == out_.first_sets[child]) {
                ++child;
                skip_line();
                next_line();
            }
            if (k == set) return line_;
        }
    }

    // The sets of one child met so far.
    class SetsSeen {
    public:
        explicit SetsSeen(const LocalScores& scores) : scores_(scores), slots_(16, kFree) {}

        bool add(std::size_t set) {
            if (2 * ++n_ > slots_.size()) grow();
            std::size_t& slot = find(set);
            if (slot != kFree) return false;
            slot = set;
            return true;
        }

    private:
        static constexpr std::size_t kFree = std::numeric_limits<std::size_t>::max();

        std::size_t& find(std::size_t set) {
            const auto wanted = view_of(scores_).parents(set);
            std::uint64_t hash = wanted.size();
            for (const std::int32_t m : wanted) {
                hash = (hash ^ static_cast<std::uint64_t>(m)) * 0x9E3779B97F4A7C15u;
                hash ^= hash >> 29;
            }
            for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
                if (slots_[i] == kFree) return slots_[i];
                if (std::ranges::equal(view_of(scores_).parents(slots_[i]), wanted))
                    return slots_[i];
            }
        }
        void grow() {
            std::vector<std::size_t> old(2 * slots_.size(), kFree);
            old.swap(slots_);
            for (const std::size_t set : old) {
                if (set != kFree) find(set) = set;
            }
        }

        const LocalScores& scores_;
        std::vector<std::size_t> slots_;
        std::size_t n_ = 0;
    };

    static constexpr std::size_t kMaxVariables = std::numeric_limits<std::int32_t>::max();

    std::string_view text_;
    const StopFlag& stop_;
    std::size_t at_ = 0;
    std::size_t line_ = 0;
    std::vector<std::string> names_;
    LocalScores out_;
    WordNumbers numbers_;
    std::vector<std::string_view> words_;  // the parents of all sets
};

}  // namespace

NamedScores parse_jkl(std::string_view text, const Execution& execution) {
    NamedScores result;
    const double expected = kNanosecondsPerByte * static_cast<double>(text.size());
    parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
        result = Parser(text, stop).parse();
        check(stop);
        order_sets(result.scores);
    });
    return result;
}

std::string format_jkl(std::span<const std::string> names, const LocalScoresView& scores) {
    std::string text = std::to_string(names.size()) + "\n";
    for (std::size_t child = 0; child < names.size(); ++child) {
        const auto first = static_cast<std::size_t>(scores.first_sets[child]);
        const auto last = static_cast<std::size_t>(scores.first_sets[child + 1]);
        text += names[child] + " " + std::to_string(last - first) + "\n";
        for (std::size_t set = first; set < last; ++set) {
            const auto parents = scores.parents(set);
            append_double(text, scores.scores[set]);
            text += ' ';
            text += std::to_string(parents.size());
            for (const std::int32_t parent : parents) {
                text += ' ';
                text += names[static_cast<std::size_t>(parent)];
            }
            text += '\n';
        }
    }
    return text;
}

}  // namespace bestdag
