/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks left by an exception: the function cut(), or, with "scope", an annotated scope of that
 * name. Afterwards another thread writes what was read in it, and so does the first: that is no
 * violation unless the block was still open ("stay").
 */
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <stdexcept>

#include "tmesis/annotate.h"
#include "weave/turn.h"

static int x;
static volatile int seen;

static void write_again()
{
    in_turn (3) {
        x = 2;
    }
}

__attribute__((noinline)) static void deeper(bool stay)
{
    if (!stay) {
        throw std::runtime_error("out of here");
    }
    write_again();
}

__attribute__((noinline)) static void cut(bool stay)
{
    in_turn (1) {
        seen = x;
    }
    deeper(stay);
    seen = 0;
}

static void *leave(void *argument)
{
    const char *way = static_cast<const char *>(argument);
    bool stay = std::strcmp(way, "stay") == 0;

    try {
        if (std::strcmp(way, "scope") == 0) {
            TMESIS_ATOMIC("cut");
            in_turn (1) {
                seen = x;
            }
            deeper(stay);
        } else {
            cut(stay);
        }
    } catch (const std::runtime_error &) {
        write_again();
    }
    return nullptr;
}

static void *write_between(void *unused)
{
    in_turn (2) {
        x = 1;
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    if (argc != 2) {
        std::fprintf(stderr, "usage: exception function|scope|stay\n");
        return 2;
    }
    pthread_create(&threads[0], nullptr, leave, argv[1]);
    pthread_create(&threads[1], nullptr, write_between, nullptr);
    pthread_join(threads[0], nullptr);
    pthread_join(threads[1], nullptr);
    return 0;
}
