/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions through functions with return hooks, with destructors that take locks. */
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "unharmed.h"

static std::mutex other;
static int destroyed;

struct Guard {
    explicit Guard(int number) : value(number)
    {
        touch();
    }
    ~Guard()
    {
        std::lock_guard<std::mutex> hold(other);
        touch();
        destroyed += value;
    }
    int value;
};

__attribute__((noinline)) static int dive(int depth)
{
    Guard guard(depth);
    if (depth == 0) {
        throw std::runtime_error("deep");
    }
    int result = dive(depth - 1) + 1;
    touch();
    return result;
}

__attribute__((noinline)) static int half_way(int depth)
{
    Guard guard(1000);
    try {
        return dive(depth);
    } catch (const std::logic_error &) {
        return -1;
    } catch (const std::runtime_error &) {
        touch();
        if (depth % 2 == 0) {
            throw;
        }
    }
    touch();
    return 5;
}

__attribute__((noinline)) static int outer(int depth)
{
    touch();
    try {
        int result = half_way(depth);
        touch();
        return result;
    } catch (const std::exception &error) {
        touch();
        return static_cast<int>(std::string(error.what()).size());
    }
}

static int in_thread(int number)
{
    std::exception_ptr caught;
    int result = 0;
    std::thread worker([&] {
        try {
            result = outer(number);
            dive(3);
        } catch (...) {
            caught = std::current_exception();
        }
    });
    worker.join();
    try {
        touch();
        std::rethrow_exception(caught);
    } catch (const std::runtime_error &) {
        touch();
        result++;
    }
    return result;
}

int main()
{
    int sum = 0;

    for (int i = 0; i < 50; i++) {
        sum += outer(i % 9) * in_thread(i % 5);
    }
    say("%d, destroyed %d", sum, destroyed);
    return 0;
}
