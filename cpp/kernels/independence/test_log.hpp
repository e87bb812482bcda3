// Tests as they were made: arrays, kept up to a limit of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "independence/test.hpp"

namespace bestdag {

class TestLog {
public:
    explicit TestLog(std::size_t max_bytes = 0) : max_bytes_(max_bytes) {}

    // False when there is no room; nothing is kept from then on.
    bool add(std::int32_t one, std::int32_t other, std::span<const std::int32_t> given,
             const Answer& answer) {
        n_bytes_ += kBytes + given.size() * sizeof(std::int32_t);
        if (n_bytes_ > max_bytes_) return false;
        ones.push_back(one);
        others.push_back(other);
        members.insert(members.end(), given.begin(), given.end());
        ends.push_back(static_cast<std::int64_t>(members.size()));
        answers.push_back(answer);
        return true;
    }

    void append(const TestLog& more) {
        for (std::size_t i = 0; i < more.ones.size(); ++i) {
            if (!add(more.ones[i], more.others[i], more.given(i), more.answers[i])) return;
        }
    }

    std::span<const std::int32_t> given(std::size_t i) const {
        const auto first = static_cast<std::size_t>(i == 0 ? 0 : ends[i - 1]);
        return {members.data() + first, static_cast<std::size_t>(ends[i]) - first};
    }

    std::size_t bytes_left() const { return n_bytes_ < max_bytes_ ? max_bytes_ - n_bytes_ : 0; }

    std::vector<std::int32_t> ones, others, members;
    std::vector<std::int64_t> ends;
    std::vector<Answer> answers;

private:
    static constexpr std::size_t kBytes = 2 * sizeof(std::int32_t) + 8 + sizeof(Answer);
    std::size_t max_bytes_;
    std::size_t n_bytes_ = 0;
};

}  // namespace bestdag
