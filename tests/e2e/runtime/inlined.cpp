/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are functions inlined into a thread's start function. cut() reads x, another thread
 * writes it, and then the first one writes it: in cut(), which is a violation, or after cut() was
 * left in one of several ways, which is not.
 */
#include <alloca.h>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <stdexcept>

#include "weave/turn.h"

#define INLINED inline __attribute__((always_inline))

static int x;
static volatile int seen, rounds = 2;
static jmp_buf landing;

static INLINED void read_first()
{
    in_turn (1) {
        seen = x;
    }
}

static INLINED void write_again()
{
    in_turn (3) {
        x = 2;
    }
}

struct Writer {
    INLINED ~Writer() { write_again(); }
};

struct Cell {
    INLINED void cut(const char *way)
    {
        read_first();
        if (std::strcmp(way, "throw") == 0 || std::strcmp(way, "cleanup") == 0) {
            throw std::runtime_error("out of here");
        }
        if (std::strcmp(way, "jump") == 0) {
            longjmp(landing, 1);
        }
        if (std::strcmp(way, "inside") == 0) {
            write_again();
        }
    }

    /* The stack pointer is another one when it is left. */
    INLINED void cut_with_room(const char *way)
    {
        char *room = static_cast<char *>(alloca(std::strlen(way) + 100));
        std::strcpy(room, way);
        cut(room);
        seen = room[0];
    }
};

static Cell cell;

static INLINED void clean_up(const char *way)
{
    Writer writer;
    cell.cut(way);
}

/* The second call has the frame, and the return address, of the first. */
__attribute__((noinline)) static void outside(int round)
{
    if (round == 0) {
        read_first();
        throw std::runtime_error("out of here");
    }
    write_again();
}

static INLINED void call_twice()
{
    for (int round = 0; round < rounds; round++) {
        try {
            outside(round);
        } catch (const std::runtime_error &) {
            seen = round;
        }
    }
}

static void *leave(void *argument)
{
    const char *way = static_cast<const char *>(argument);

    try {
        if (std::strcmp(way, "twice") == 0) {
            call_twice();
            return nullptr;
        }
        if (std::strcmp(way, "cleanup") == 0) {
            clean_up(way);
        }
        if (std::strcmp(way, "room") == 0) {
            cell.cut_with_room(way);
        } else if (setjmp(landing) == 0) {
            cell.cut(way);
        }
    } catch (const std::runtime_error &) {
        seen = 1;
    }
    if (std::strcmp(way, "inside") != 0 && std::strcmp(way, "cleanup") != 0) {
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
        std::fprintf(stderr, "usage: inlined inside|return|throw|cleanup|jump|room|twice\n");
        return 2;
    }
    pthread_create(&threads[0], nullptr, leave, argv[1]);
    pthread_create(&threads[1], nullptr, write_between, nullptr);
    pthread_join(threads[0], nullptr);
    pthread_join(threads[1], nullptr);
    return 0;
}
