// How native work runs: with the interpreter lock released, Ctrl-C noticed, and where it may be
// long with a time limit and reports of progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/common.hpp"

// What the thread at hand calls while it waits for its workers, or null: for reports of progress.
inline thread_local PyObject* listener = nullptr;

// Where this thread is itself a worker that calls Python: the flag that stops it, or null.
inline thread_local const bestdag::StopFlag* own_stop = nullptr;

// Whether the work that this thread waits for must stop: a signal came, or the listener raised.
// The interpreter lock is not held; the exception stays set.
inline bool must_stop() {
    const nb::gil_scoped_acquire locked;
    if (own_stop != nullptr && own_stop->load()) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return true;
    }
    if (PyErr_CheckSignals() != 0) return true;
    if (listener == nullptr) return false;
    PyObject* const answer = PyObject_CallNoArgs(listener);
    Py_XDECREF(answer);
    return answer == nullptr;
}

// Run work(execution) without the interpreter lock. The calling thread looks for signals while
// the workers work, and calls its listener; a pending KeyboardInterrupt stops them and is raised
// here, and so is what the listener raised.
template <class Work>
void run_unlocked(int threads, Work&& work) {
    const bestdag::Execution execution{threads, must_stop};
    try {
        const nb::gil_scoped_release unlocked;
        std::forward<Work>(work)(execution);
    } catch (const bestdag::Interrupted&) {
        throw nb::python_error();
    }
    if (PyErr_Occurred()) throw nb::python_error();  // Ctrl-C that came as the work was done
}

// The time limit of long work, and the callback for its progress (or None). Called by the
// thread that waits for the work, without the interpreter lock: true when the work must stop.
class Watcher {
    using Clock = std::chrono::steady_clock;

public:
    explicit Watcher(double seconds, nb::object progress = nb::none())
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
    return is_done;
}

// The same for so many seconds, without reports of progress.
template <class Work>
bool run_for(double seconds, int threads, Work&& work) {
    Watcher watcher(seconds);
    return run_watched(threads, watcher, std::forward<Work>(work));
}
