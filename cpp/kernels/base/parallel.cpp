#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace bestdag {

namespace {

constexpr double kShortNanoseconds = 3e6;  // nobody need ask whether to stop meanwhile
constexpr double kThreadNanoseconds =
    1e5;  // less is not worth starting a thread, which takes 20 us
constexpr auto kPollInterval = std::chrono::milliseconds(20);

class Crew {
public:
    Crew(std::size_t n_tasks, const std::function<void(std::size_t, const StopFlag&)>& task)
        : n_tasks_(n_tasks), task_(task) {}

    void start(std::size_t n_workers) {
        workers_.reserve(n_workers);
        const std::lock_guard lock(mutex_);  // a worker that ends at once waits to be counted
        for (std::size_t i = 0; i < n_workers; ++i) {
            try {
                workers_.emplace_back([this] {
                    work();
                    leave();
                });
                ++running_;
            } catch (const std::system_error&) {  // no more threads: continue with these
                break;
            } catch (const std::bad_alloc&) {  // nor memory for one
                break;
            }
        }
    }

    bool has_workers() const { return !workers_.empty(); }

    void wait(const std::function<bool()>& should_stop) {
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, kPollInterval, [this] { return running_ == 0; })) {
            if (!should_stop || interrupted_) continue;
            lock.unlock();
            if (should_stop()) {
                interrupted_ = true;
                stop_ = true;
            }
            lock.lock();
        }
    }

    void finish() {
        for (std::thread& worker : workers_) worker.join();
        if (failure_) std::rethrow_exception(failure_);
        if (interrupted_) throw Interrupted();
    }

    void work() noexcept {
        try {
            for (std::size_t i; !stop_ && (i = next_++) < n_tasks_;) task_(i, stop_);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            stop_ = true;
        }
    }

private:
    void leave() noexcept {
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) done_.notify_all();
    }

    const std::size_t n_tasks_;
    const std::function<void(std::size_t, const StopFlag&)>& task_;
    std::vector<std::thread> workers_;
    std::atomic<std::size_t> next_ = 0;
    StopFlag stop_ = false;
    bool interrupted_ = false;  // touched by the calling thread only
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

std::size_t useful_threads(double expected_nanoseconds, const Execution& execution) noexcept {
    const double most = std::max(1, execution.threads);
    return static_cast<std::size_t>(
        std::clamp(expected_nanoseconds / kThreadNanoseconds, 1.0, most));
}

void parallel_for(std::size_t n_tasks, double expected_nanoseconds, const Execution& execution,
                  const std::function<void(std::size_t, const StopFlag&)>& task) {
    if (n_tasks == 0) return;
    Crew crew(n_tasks, task);
    const std::size_t threads = std::min(n_tasks, useful_threads(expected_nanoseconds, execution));
    const bool is_short = expected_nanoseconds < kShortNanoseconds;
    crew.start(is_short ? threads - 1 : threads);
    if (is_short || !crew.has_workers()) {
        crew.work();
    } else {
        crew.wait(execution.should_stop);
    }
    crew.finish();
}

}  // namespace bestdag
