/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The director of a woven program (weave.h), not instrumented: it reads the trace, makes the
 * objects, starts the threads, and lets each do its events when it is its turn.
 *
 * The main thread plays no part of the trace. It starts the threads without a fork in the trace,
 * and ends the process when the last turn is over, without a join.
 *
 * A condition wait is one call and three events, the crossing of a barrier one call and two, and
 * other threads act in the meantime. The runtime finds the "real" pthread_cond_wait and
 * pthread_barrier_wait here, since this library comes before the C library (weave.map has the
 * version): they wait for the turn at which the trace continues with the thread. So every order in
 * a trace can be reproduced, also those in which real threads would have been scheduled otherwise.
 * Locks are real.
 *
 * Variables are adjacent in memory and have 1, 1, 2, 4 and 8 bytes in turn, which exposes any
 * confusion of neighbours. Those that belong to an object which the trace allocates or frees have a
 * piece of heap memory each. Every third access is an atomic load or store, and half of these are
 * relaxed; so is every fourth update.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tmesis/annotate.h"
#include "turn.h"
#include "weave.h"

#define MOST 64
#define NAME 32

/* One line of the trace; `at` is the number of the function that does it. */
struct line {
    char thread[NAME], what[NAME], operand[NAME];
    unsigned at;
};

struct variable {
    char name[NAME];
    void *place;
    unsigned size_index; /* in WEAVE_SIZES */
};

struct thread;

/* A call at turn `turn`; `resumed`: the turn at which a call that waits continues, otherwise 0. */
struct call {
    enum weave_deed deed;
    unsigned turn, resumed, at;
    const struct line *line;
    void *object, *second;
    /* Known only when it is played: the address of a variable, the thread to be joined. */
    struct variable *variable;
    struct thread *joined;
    bool renewed[MOST]; /* which variables */
};

/* Everything that has a name begins with it: look_up(). */
struct thread {
    char name[NAME];
    pthread_t handle;
    bool forked;
    struct call calls[WEAVE_EVENTS];
    unsigned count;
};

struct object {
    char name[NAME];
    union {
        pthread_mutex_t mutex;
        pthread_rwlock_t rwlock;
        pthread_cond_t condition;
        pthread_barrier_t barrier;
    };
    bool shared;
};

static struct {
    weave_event *const *events;
    struct line lines[WEAVE_EVENTS];
    unsigned count;
    struct thread threads[MOST];
    struct variable variables[MOST];
    struct object locks[MOST], conditions[MOST], barriers[MOST];
    _Alignas(16) unsigned char memory[MOST * 8];
    void *nothing; /* heap memory for objects without variables */
} play;

static __thread const struct call *playing;

static _Noreturn void fail(const char *what, const char *which)
{
    fprintf(stderr, "weave: %s: %s\n", what, which);
    exit(2);
}

/* ---- what would block ------------------------------------------------------------------- */

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    int (*unlock)(pthread_mutex_t *) = NULL, (*lock)(pthread_mutex_t *) = NULL;

    (void)condition;
    *(void **)&unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    unlock(mutex);
    turn_pass(playing->turn + 2);
    turn_take(playing->resumed);
    return lock(mutex);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    (void)barrier;
    turn_pass(playing->turn + 1);
    turn_take(playing->resumed);
    return 0;
}

/* ---- objects ---------------------------------------------------------------------------- */

/* The entry of a name, made if it is new. `name` has NAME bytes. */
static void *look_up(void *table, size_t size, const char *name)
{
    for (size_t i = 0; i < MOST; i++) {
        char *entry = (char *)table + i * size;
        if (entry[0] == '\0') {
            memcpy(entry, name, NAME);
        }
        if (strcmp(entry, name) == 0) {
            return entry;
        }
    }
    fail("too many names", name);
}

static struct thread *find_thread(const char *name)
{
    return look_up(play.threads, sizeof(struct thread), name);
}

static struct object *find_object(struct object *table, const char *name)
{
    return look_up(table, sizeof(struct object), name);
}

/* Is the variable the object itself (the end of the name counts as found), a member, an element? */
static bool belongs(const char *variable, const char *object)
{
    size_t length = strlen(object);

    return strncmp(variable, object, length) == 0 && strchr(".[", variable[length]) != NULL;
}

static bool renews(const struct line *line)
{
    return strcmp(line->what, "alloc") == 0 || strcmp(line->what, "free") == 0;
}

static bool on_heap(const char *variable)
{
    for (unsigned i = 0; i < play.count; i++) {
        if (renews(&play.lines[i]) && belongs(variable, play.lines[i].operand)) {
            return true;
        }
    }
    return false;
}

static void place_variable(struct variable *variable)
{
    static const struct {
        unsigned char offset, size_index;
    } layout[] = {{0, 0}, {1, 0}, {2, 1}, {4, 2}, {8, 3}};
    size_t index = (size_t)(variable - play.variables), in_row = index % 5;

    variable->size_index = layout[in_row].size_index;
    variable->place = on_heap(variable->name)
                          ? malloc(WEAVE_MEMORY)
                          : play.memory + index / 5 * 16 + layout[in_row].offset;
}

static struct variable *find_variable(const char *name)
{
    struct variable *variable = look_up(play.variables, sizeof(struct variable), name);

    if (variable->place == NULL) {
        place_variable(variable);
    }
    return variable;
}

/* Mutexes are recursive; a lock that is ever shared is a read-write lock. */
static void make_locks(void)
{
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    for (unsigned i = 0; i < play.count; i++) {
        if (strcmp(play.lines[i].what, "racq") == 0) {
            find_object(play.locks, play.lines[i].operand)->shared = true;
        }
    }
    for (unsigned i = 0; i < MOST; i++) {
        if (play.locks[i].shared) {
            pthread_rwlock_init(&play.locks[i].rwlock, NULL);
        } else {
            pthread_mutex_init(&play.locks[i].mutex, &recursive);
        }
    }
}

/* ---- calls ------------------------------------------------------------------------------ */

/*
 * Maps a plain access or an update to the way it is made at this turn; order.py has the same rule.
 */
static int atomic_way(enum weave_deed plain, unsigned turn)
{
    if (plain == WEAVE_UPDATE_1) {
        return turn % 4 == 0 ? WEAVE_UPDATE_RELAXED_1 - WEAVE_UPDATE_1 : 0;
    }
    return turn % 6 == 0   ? WEAVE_LOAD_RELAXED_1 - WEAVE_READ_1
           : turn % 3 == 0 ? WEAVE_LOAD_1 - WEAVE_READ_1
                           : 0;
}

/* READ, WRITE and UPDATE of the first size; the other sizes and the atomic ways follow. */
static void plan_access(struct call *call, enum weave_deed plain)
{
    call->variable = find_variable(call->line->operand);
    call->deed = plain + atomic_way(plain, call->turn) +
                 call->variable->size_index * (WEAVE_READ_2 - WEAVE_READ_1);
}

static void plan_read(struct call *call)
{
    plan_access(call, WEAVE_READ_1);
}

static void plan_write(struct call *call)
{
    plan_access(call, WEAVE_WRITE_1);
}

static void plan_update(struct call *call)
{
    plan_access(call, WEAVE_UPDATE_1);
}

static void plan_lock(struct call *call, enum weave_deed mutex, enum weave_deed rwlock)
{
    struct object *lock = find_object(play.locks, call->line->operand);

    call->deed = lock->shared ? rwlock : mutex;
    call->object = &lock->mutex;
}

static void plan_acquire(struct call *call)
{
    plan_lock(call, WEAVE_LOCK, WEAVE_LOCK_WRITE);
}

static void plan_shared_acquire(struct call *call)
{
    plan_lock(call, WEAVE_LOCK_READ, WEAVE_LOCK_READ);
}

static void plan_release(struct call *call)
{
    plan_lock(call, WEAVE_UNLOCK, WEAVE_UNLOCK_EITHER);
}

/* The release before it was the beginning of this. */
static void plan_wait(struct call *call)
{
    call->deed = WEAVE_WAIT;
    call->second = &find_object(play.conditions, call->line->operand)->condition;
}

static void plan_arrive(struct call *call)
{
    call->deed = WEAVE_CROSS;
    call->object = &find_object(play.barriers, call->line->operand)->barrier;
}

static void plan_fork(struct call *call)
{
    struct thread *child = find_thread(call->line->operand);

    child->forked = true;
    call->deed = WEAVE_FORK;
    call->object = &child->handle;
    call->second = child;
}

static void plan_join(struct call *call)
{
    call->deed = WEAVE_JOIN;
    call->joined = find_thread(call->line->operand);
}

static void plan_begin(struct call *call)
{
    call->deed = WEAVE_BEGIN;
    call->object = (void *)(uintptr_t)call->line->operand;
}

static void plan_end(struct call *call)
{
    call->deed = WEAVE_END;
}

static void plan_renew(struct call *call)
{
    call->deed = WEAVE_RENEW;
    for (unsigned i = 0; i < play.count; i++) {
        const struct line *line = &play.lines[i];
        if (line->what[1] == '\0' && belongs(line->operand, call->line->operand)) {
            call->renewed[find_variable(line->operand) - play.variables] = true;
        }
    }
}

static const struct {
    const char *what;
    void (*plan)(struct call *call);
} plans[] = {
    {"r", plan_read},       {"w", plan_write},     {"u", plan_update},
    {"acq", plan_acquire},  {"rel", plan_release}, {"racq", plan_shared_acquire},
    {"rrel", plan_release}, {"wait", plan_wait},   {"arrive", plan_arrive},
    {"fork", plan_fork},    {"join", plan_join},   {"begin", plan_begin},
    {"end", plan_end},      {"alloc", plan_renew}, {"free", plan_renew},
};

/* An event at the location of an earlier one is the rest of that call: it waits, or continues. */
static struct call *call_of(struct thread *thread, const struct line *line, unsigned turn)
{
    bool rest = thread->count > 0 && thread->calls[thread->count - 1].at == line->at;
    struct call *last = &thread->calls[rest ? thread->count - 1 : thread->count++];

    if (!rest) {
        *last = (struct call){.turn = turn, .at = line->at};
    } else if (strcmp(line->what, "wait") != 0) {
        last->resumed = turn;
        return NULL;
    }
    last->line = line;
    return last;
}

static void plan_line(const struct line *line, unsigned turn)
{
    struct call *call = call_of(find_thread(line->thread), line, turn);

    for (size_t i = 0; call != NULL && i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(plans[i].what, line->what) == 0) {
            plans[i].plan(call);
            return;
        }
    }
    if (call != NULL) {
        fail("no such event", line->what);
    }
}

/*
 * ---- playing ----------------------------------------------------------------------------
 *
 * No strcmp here, nor anything else that the runtime would take for something that the thread
 * reads: a thread that does nothing in the trace is to do nothing.
 */

/* Every variable of the object gets other memory, by the function of the one event. */
static void renew(const struct call *call)
{
    weave_event *event = play.events[call->at];

    play.nothing = event(WEAVE_RENEW, play.nothing, NULL);
    for (unsigned i = 0; i < MOST; i++) {
        if (call->renewed[i]) {
            play.variables[i].place = event(WEAVE_RENEW, play.variables[i].place, NULL);
        }
    }
}

static void *object_of(const struct call *call)
{
    if (call->joined != NULL) {
        return (void *)(uintptr_t)call->joined->handle;
    }
    return call->variable != NULL ? call->variable->place : call->object;
}

void *weave_enter(void *argument)
{
    const struct thread *thread = argument;

    for (unsigned i = 0; i < thread->count; i++) {
        const struct call *call = &thread->calls[i];
        playing = call;
        turn_take(call->turn);
        if (call->deed == WEAVE_RENEW) {
            renew(call);
        } else {
            play.events[call->at](call->deed, object_of(call), call->second);
        }
        turn_pass((call->resumed != 0 ? call->resumed : call->turn) + 1);
    }
    return NULL;
}

/* "T0|acq(m)|17": T0, acq, m, 17; an operand may be missing. */
static bool parse(const char *text, struct line *line)
{
    return sscanf(text, "%31[^|]|%31[a-z](%31[^)])|%u", line->thread, line->what, line->operand,
                  &line->at) == 4 ||
           sscanf(text, "%31[^|]|%31[a-z]|%u", line->thread, line->what, &line->at) == 3;
}

static void read_trace(const char *path)
{
    FILE *file = fopen(path, "r");
    char text[4 * NAME];

    if (file == NULL) {
        fail("can't read", path);
    }
    while (fgets(text, sizeof(text), file) != NULL) {
        struct line *line = &play.lines[play.count];
        if (text[0] == '#') {
            continue;
        }
        if (play.count == WEAVE_EVENTS || !parse(text, line) || line->at >= WEAVE_EVENTS) {
            fail("can't play", text);
        }
        play.count++;
    }
    fclose(file);
}

int weave_play(const char *path, weave_event *const *events)
{
    alarm(60);
    turn_pass(0);
    tmesis_ignore_begin(); /* ignores the accesses of the C library's functions here */
    play.events = events;
    play.nothing = malloc(WEAVE_MEMORY);
    read_trace(path);
    make_locks();
    for (unsigned i = 0; i < play.count; i++) {
        plan_line(&play.lines[i], i + 1);
    }
    for (unsigned i = 0; i < MOST; i++) {
        struct thread *thread = &play.threads[i];
        if (thread->name[0] != '\0' && !thread->forked) {
            pthread_create(&thread->handle, NULL, weave_enter, thread);
        }
    }
    turn_pass(1);
    turn_take(play.count + 1);
    return 0;
}
