// What the PC algorithm asks, whoever answers: a graph, rows of data, or the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/parallel.hpp"

namespace bestdag {

// What is odd about an answer.
enum class Remark : std::uint8_t {
    none,
    no_freedom,    // no degrees of freedom: nothing speaks against independence
    too_few_rows,  // fewer rows per degree of freedom than demanded: dependent, unseen
};

struct Answer {
    double statistic = 0.0;
    double df = 0.0;
    double log_p = 0.0;  // natural logarithm of the p-value
    bool is_independent = false;
    Remark remark = Remark::none;
};

// One thread's way to answers.
class Answerer {
public:
    virtual ~Answerer() = default;

    // Is `one` independent of each of the others given `given`? Variables are numbers; `given` is
    // ascending and has neither `one` nor any of the others.
    virtual void ask(std::int32_t one, std::span<const std::int32_t> given,
                     std::span<const std::int32_t> others, std::span<Answer> answers,
                     const StopFlag& stop) = 0;
};

// Outlives its answerers.
class IndependenceTest {
public:
    virtual ~IndependenceTest() = default;
    virtual std::size_t n_variables() const = 0;
    virtual std::unique_ptr<Answerer> answerer() const = 0;
    virtual double expected_nanoseconds() const = 0;  // for an answer, about
    virtual bool takes_threads() const { return true; }
};

}  // namespace bestdag
