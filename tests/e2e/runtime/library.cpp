/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the C++ library, which is implemented on POSIX threads: what a block does before and
 * after another thread comes in between. See scene.h.
 */
#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "scene.h"

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::atomic<int> number;
static std::once_flag one, two;
extern int plain; /* not static: other files may access it */
int plain;
static std::thread thread;
static std::future<void> result;

static void lock()
{
    std::lock_guard<std::mutex> hold(mutex);
}

static void lock_unique()
{
    std::unique_lock<std::mutex> hold(mutex, std::try_to_lock);
}

static void lock_recursive()
{
    std::lock_guard<std::recursive_mutex> hold(recursive), again(recursive);
}

static void lock_timed()
{
    std::unique_lock<std::timed_mutex> hold(timed, std::chrono::seconds(100));
}

static void lock_shared()
{
    std::shared_lock<std::shared_mutex> hold(shared);
}

static void lock_exclusive()
{
    std::unique_lock<std::shared_mutex> hold(shared);
}

static void load()
{
    (void)number.load();
}

static void add()
{
    number++;
}

static void once_first()
{
    std::call_once(one, [] {});
}

static void once_both()
{
    std::call_once(one, [] {});
    std::call_once(two, [] {});
}

static void once_second()
{
    std::call_once(two, [] {});
}

static void start()
{
    thread = std::thread([] { plain = 1; });
}

static void join()
{
    thread.join();
}

static void start_async()
{
    result = std::async(std::launch::async, [] { plain = 1; });
}

static void get_async()
{
    result.get();
}

static void nothing()
{
}

/* Memory that operator new reuses is new: the two threads get the same memory in turn. */
static void use_new()
{
    std::unique_ptr<std::vector<char>> memory(new std::vector<char>(8192));

    (*memory)[0] = 1;
}

static struct scene scenes[] = {
    {"mutex", lock, lock, nullptr},
    {"unique-lock", lock_unique, lock, nullptr},
    {"recursive-mutex", lock_recursive, lock_recursive, nullptr},
    {"timed-mutex", lock_timed, lock_timed, nullptr},
    {"shared-mutex", lock_shared, lock_exclusive, nullptr},
    {"shared-mutex-shared", lock_shared, lock_shared, nullptr},
    {"atomic", load, add, add},
    {"atomic-loads", load, load, nullptr},
    {"call-once", once_first, once_both, once_second},
    {"thread", start, nothing, join},
    {"async", start_async, nothing, get_async},
    {"new", use_new, use_new, nullptr},
};

int main(int argc, char **argv)
{
    return SCENE_PLAY(scenes, argc, argv);
}
