/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small stacks: a thread with the minimum size, a thread with 32 KiB, and handlers on a stack of 8
 * KiB, each running code that is new to the runtime: functions with long names, locks, threads,
 * conflicts, violations. The stacks are painted, and the used size is written to the file that the
 * second argument names.
 */
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared_count[64];

namespace with_a_long_name::and_another_one {

/* A type whose name makes demanglers work. */
template <int N> struct deep {
    using type = std::tuple<typename deep<N - 1>::type, std::vector<typename deep<N - 1>::type>>;
};
template <> struct deep<0> {
    using type = std::pair<std::string, std::string>;
};

template <typename A, typename B> __attribute__((noinline)) void visit(int where)
{
    pthread_mutex_lock(&lock);
    shared_count[where]++;
    pthread_mutex_unlock(&lock);
    shared_count[where + 1]++; /* a race, so that there are edges and violations */
    shared_count[where]++;
}

} /* namespace */

using with_a_long_name::and_another_one::deep;

template <typename Who> __attribute__((noinline)) void everything()
{
    using namespace with_a_long_name::and_another_one;
    for (int round = 0; round < 200; round++) {
        visit<Who, typename deep<2>::type>(0);
        visit<typename deep<2>::type, Who>(8);
        visit<typename deep<1>::type, typename deep<2>::type>(16);
    }
}

/* ---- stacks ------------------------------------------------------------------------------ */

#define PAINT 0xa5

struct painted {
    unsigned char *memory;
    size_t size;
};

static painted paint(size_t size)
{
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, PAINT, size);
    return {static_cast<unsigned char *>(memory), size};
}

static size_t used(const painted &stack)
{
    size_t clean = 0;
    while (clean < stack.size && stack.memory[clean] == PAINT)
        clean++;
    return stack.size - clean;
}

struct thread_least {};
struct thread_small {};
struct handler_small {};
struct other_thread {};

template <typename Who> static void *body(void *unused)
{
    everything<Who>();
    return unused;
}

template <typename Who> static size_t on_thread(size_t size)
{
    pthread_attr_t attributes;
    pthread_t thread;
    painted stack = paint(size);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack.memory, stack.size);
    if (pthread_create(&thread, &attributes, body<Who>, nullptr) != 0)
        abort();
    pthread_join(thread, nullptr);
    return used(stack);
}

static void handle(int)
{
    everything<handler_small>();
}

static size_t on_signal(size_t size)
{
    painted stack = paint(size);
    stack_t other = {}, none = {};
    struct sigaction action = {};
    other.ss_sp = stack.memory;
    other.ss_size = stack.size;
    none.ss_flags = SS_DISABLE;
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&other, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    sigaltstack(&none, nullptr);
    return used(stack);
}

int main(int count, char **words)
{
    pthread_t thread;
    pthread_create(&thread, nullptr, body<other_thread>, nullptr);
    size_t least = on_thread<thread_least>(PTHREAD_STACK_MIN);
    size_t small = on_thread<thread_small>(32768);
    size_t handler = on_signal(8192);
    pthread_join(thread, nullptr);
    FILE *file = count > 1 ? fopen(words[1], "w") : nullptr;
    if (file != nullptr) {
        fprintf(file, "%zu %zu %zu\n", least, small, handler);
        fclose(file);
    }
    return 0;
}
