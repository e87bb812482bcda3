// The clock and the progress of long native work.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "bindings/common.hpp"

// Asked by the calling thread, without the interpreter lock: true when time is up.
class Watcher {
    using Clock = std::chrono::steady_clock;

public:
    Watcher(double seconds, nb::object progress)
        : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)))),
          progress_(std::move(progress)) {}

    bool is_late() const { return Clock::now() >= end_; }

    bool operator()(double share) {
        if (is_late()) return true;
        if (progress_.is_none()) return false;
        const nb::gil_scoped_acquire locked;
        try {
            progress_(share);
        } catch (...) {
            failure_ = std::current_exception();
            return true;
        }
        return false;
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    const Clock::time_point end_;
    const nb::object progress_;
    std::exception_ptr failure_;
};

// Run work(execution) until it is done or time is up; false then. Ctrl-C and what `progress` raised
// are raised here.
template <class Work>
bool run_watched(int threads, Watcher& watcher, Work&& work) {
    bool is_done = true;
    run_unlocked(threads, [&](const bestdag::Execution& execution) {
        const bestdag::Execution watched{
            execution.threads, [&] { return watcher.is_late() || execution.should_stop(); }};
        try {
            work(watched);
        } catch (const bestdag::Interrupted&) {
            is_done = false;
        }
    });
    watcher.rethrow();
    if (PyErr_Occurred()) throw nb::python_error();  // Ctrl-C
    return is_done;
}
