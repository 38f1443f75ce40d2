/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads of the C++ library that take tasks from a queue until it is closed. */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int threads)
    {
        for (int i = 0; i < threads; i++) {
            workers.emplace_back([this] { work(); });
        }
    }

    void add(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            tasks.push_back(std::move(task));
        }
        changed.notify_one();
    }

    void close()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            closed = true;
        }
        changed.notify_all();
        for (std::thread &worker : workers) {
            worker.join();
        }
    }

  private:
    bool next(std::function<void()> &task)
    {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [this] { return closed || !tasks.empty(); });
        if (tasks.empty()) {
            return false;
        }
        task = std::move(tasks.front());
        tasks.pop_front();
        return true;
    }

    void work()
    {
        std::function<void()> task;
        while (next(task)) {
            task();
        }
    }

    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool closed = false;
    std::vector<std::thread> workers;
};

static const int rounds = 3000;
static std::atomic<int> sum, seen;

static void count(int by)
{
    if (sum.load() % 2 == 0) {
        seen++;
    }
    sum += by;
}

int main()
{
    Pool pool(3);
    for (int i = 0; i < rounds; i++) {
        pool.add([i] { count(i % 5); });
    }
    pool.close();
    std::printf("%d %d\n", sum.load(), seen.load());
    return 0;
}
