// How every bulk kernel runs: tasks handed to threads that live for one call only, so a fork or
// another thread pool never meets a sleeping worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>

namespace bestdag {

// The caller asked to stop while work was running; nothing of it may be used.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

// Read by workers between short pieces of work (well under 50 ms each).
using StopFlag = std::atomic<bool>;

// Throws Interrupted when the caller asked to stop.
inline void check(const StopFlag& stop) {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
}

struct Execution {
    int threads = 1;  // at least 1
    std::function<bool()>
        should_stop;  // asked by the calling thread about every 20 ms; may be empty
};

// How many threads are worth starting for work that takes one of them so long; at least 1.
std::size_t useful_threads(double expected_nanoseconds, const Execution& execution) noexcept;

// Run task(0) ... task(n_tasks - 1), each once, in any order, on as many threads as are useful.
// Work expected to take less than a few milliseconds is shared by the calling thread, without
// polling. Throws Interrupted when should_stop said so, and the first exception a task threw.
void parallel_for(std::size_t n_tasks, double expected_nanoseconds, const Execution& execution,
                  const std::function<void(std::size_t, const StopFlag&)>& task);

}  // namespace bestdag
