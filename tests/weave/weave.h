/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weaving: a program that executes exactly the interleaving of a given trace, to see whether the
 * runtime finds in it what `tmesis check` finds in the trace.
 *
 *     weave TRACE
 *
 * plays a trace in STD format, as prepare.c writes it, with real threads, locks, variables and
 * blocks. One program plays them all, so that hundreds of traces cost one compilation. It has two
 * parts: events.c, which is compiled by `tmesis cc`, does what an event says and nothing else;
 * director.c, a shared library which is not instrumented, reads the trace, keeps the threads in
 * turn (turn.h), and calls events.c for each event.
 *
 * An event must be known again in the report. So there is a function for each event number:
 * event 17 of the trace happens in event_017(), whatever it is, and that is all of line 17 of
 * numbers.inc, which the test makes:
 *
 *     seq -f 'EVENT(%03g)' 299 >numbers.inc
 */
#ifndef TMS_WEAVE_WEAVE_H
#define TMS_WEAVE_WEAVE_H

/* X(SIZE in bytes, type) */
#define WEAVE_SIZES(X)                                                                             \
    X(1, unsigned char)                                                                            \
    X(2, unsigned short)                                                                           \
    X(4, unsigned)                                                                                 \
    X(8, unsigned long)

/* The operations of events.c on an object. Each access comes in all sizes, one after the other. */
enum weave_deed {
#define X(size, type)                                                                              \
    WEAVE_READ_##size, WEAVE_WRITE_##size, WEAVE_LOAD_##size, WEAVE_STORE_##size,                  \
        WEAVE_UPDATE_##size, WEAVE_LOAD_RELAXED_##size, WEAVE_STORE_RELAXED_##size,                \
        WEAVE_UPDATE_RELAXED_##size,
    WEAVE_SIZES(X)
#undef X
        WEAVE_LOCK, /* a mutex */
    WEAVE_UNLOCK,
    WEAVE_LOCK_WRITE, /* a read-write lock */
    WEAVE_LOCK_READ,
    WEAVE_UNLOCK_EITHER,
    WEAVE_WAIT,  /* on a condition (the second object) with a mutex */
    WEAVE_CROSS, /* a barrier */
    WEAVE_FORK,  /* a thread that runs weave_enter(second); the object is its handle to be */
    WEAVE_JOIN,  /* the object is the handle itself */
    WEAVE_BEGIN, /* the object is the label */
    WEAVE_END,   /* no object */
    WEAVE_RENEW, /* heap memory: freed and allocated again; returns where it is now */
};

#define WEAVE_EVENTS 300 /* counted from 1: one less */
#define WEAVE_MEMORY 24  /* bytes of each piece of heap memory */

typedef void *weave_event(enum weave_deed deed, void *object, void *second);

/* The start function of a thread. */
void *weave_enter(void *thread);
/* Plays the trace with the functions of the events from 0 on; the exit status. */
int weave_play(const char *path, weave_event *const *events);

#endif
