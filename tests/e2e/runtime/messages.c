/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that a thread cuts by an answer through the kernel. That orders the accesses, so nothing
 * races, but it neither is a conflict nor removes one: the block is cut if data conflicts, and is
 * not if only messages go back and forth.
 */
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scene.h"

extern int shared; /* not static: its accesses must not be optimised away */
int shared;

static int there[2], back[2]; /* pipes */
static int pair[2];
static int event;

static void send_to(int file)
{
    if (write(file, "x", 1) != 1) {
        abort();
    }
}

static void receive_from(int file)
{
    char byte;

    if (read(file, &byte, 1) != 1) {
        abort();
    }
}

/* ---- pipes ------------------------------------------------------------------------------- */

static void ask(void)
{
    shared++;
    send_to(there[1]);
}

static void answer(void)
{
    receive_from(there[0]);
    shared++;
    send_to(back[1]);
}

static void take_answer(void)
{
    receive_from(back[0]);
    shared++;
}

/* ---- the same without data --------------------------------------------------------------- */

static void ask_only(void)
{
    send_to(there[1]);
}

static void answer_only(void)
{
    receive_from(there[0]);
    send_to(back[1]);
}

static void take_only(void)
{
    receive_from(back[0]);
}

/* ---- a pair of sockets, and an eventfd --------------------------------------------------- */

static void ask_pair(void)
{
    shared++;
    send_to(pair[0]);
}

static void answer_pair(void)
{
    receive_from(pair[1]);
    shared++;
    send_to(pair[1]);
}

static void take_pair(void)
{
    receive_from(pair[0]);
    shared++;
}

static void ask_event(void)
{
    shared++;
    eventfd_write(event, 1);
}

static void answer_event(void)
{
    eventfd_t count;

    eventfd_read(event, &count);
    shared++;
    eventfd_write(event, 1);
}

static void take_event(void)
{
    eventfd_t count;

    eventfd_read(event, &count);
    shared++;
}

static struct scene scenes[] = {
    {"pipe", ask, answer, take_answer},
    {"pipe-empty", ask_only, answer_only, take_only},
    {"pair", ask_pair, answer_pair, take_pair},
    {"eventfd", ask_event, answer_event, take_event},
};

int main(int argc, char **argv)
{
    event = eventfd(0, 0);
    if (pipe(there) != 0 || pipe(back) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        event < 0) {
        return 2;
    }
    return SCENE_PLAY(scenes, argc, argv);
}
