/* SPDX-License-Identifier: Apache-2.0 */
/* Open blocks and held locks; see verify_threads.h. */
#include "judge/verify_threads.h"

#include <stdlib.h>
#include <string.h>

#include "judge/naive.h"

#define LABEL_MOST 8192 /* bytes of a label that are used */

struct open_block {
    uint64_t begin;
    uint8_t opened_by; /* enum tms_event_kind; call after a demotion */
};

struct hold {
    uint32_t lock;
    unsigned depth;
    uint64_t since;
};

struct thread_state {
    struct open_block *blocks;
    struct hold *holds;
    size_t block_count, block_capacity, hold_count, hold_capacity;
};

/* Room for one more, and for `wanted` in any case; new elements are zero. */
static void *grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) {
        return array;
    }
    size_t more = 2 * wanted + 8;
    char *larger = naive_array(more, size);
    if (array != NULL) {
        memcpy(larger, array, *capacity * size);
    }
    free(array);
    *capacity = more;
    return larger;
}

static struct thread_state *state_of(struct threads *threads, uint32_t thread)
{
    threads->states =
        grow(threads->states, &threads->state_count, (size_t)thread + 1, sizeof(*threads->states));
    return &threads->states[thread];
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void open_block(struct threads *threads, const struct tms_event *event, uint64_t number)
{
    struct thread_state *state = state_of(threads, event->thread);

    threads->begun = grow(threads->begun, &threads->label_count, (size_t)event->target + 1,
                          sizeof(*threads->begun));
    threads->begun[event->target]++;
    state->blocks =
        grow(state->blocks, &state->block_capacity, state->block_count + 1, sizeof(*state->blocks));
    state->blocks[state->block_count++] = (struct open_block){number, event->kind};
}

/* The innermost block that was opened so. */
static size_t innermost_of(const struct thread_state *state, uint8_t opened_by)
{
    size_t at = state->block_count;

    while (at > 1 && state->blocks[at - 1].opened_by != opened_by) {
        at--;
    }
    return at - 1;
}

static void close_block(struct threads *threads, uint32_t thread, uint8_t opened_by)
{
    struct thread_state *state = state_of(threads, thread);
    size_t at = innermost_of(state, opened_by);

    memmove(&state->blocks[at], &state->blocks[at + 1],
            (--state->block_count - at) * sizeof(*state->blocks));
}

uint64_t threads_innermost(const struct threads *threads, uint32_t thread, uint64_t before)
{
    const struct thread_state *state =
        thread < threads->state_count ? &threads->states[thread] : NULL;

    for (size_t at = state != NULL ? state->block_count : 0; at-- > 0;) {
        if (state->blocks[at].begin < before) {
            return state->blocks[at].begin;
        }
    }
    return 0;
}

uint64_t threads_executions(const struct threads *threads, const struct tms_context *context,
                            uint32_t label)
{
    char function[LABEL_MOST], other[LABEL_MOST];
    uint64_t executions = 0;

    naive_function(tms_name(context, TMS_CLASS_LABEL, label, NULL), function, sizeof(function));
    for (uint32_t i = 0; i < threads->label_count; i++) {
        naive_function(tms_name(context, TMS_CLASS_LABEL, i, NULL), other, sizeof(other));
        executions += strcmp(function, other) == 0 ? threads->begun[i] : 0;
    }
    return executions;
}

/* ---- locks ------------------------------------------------------------------------------- */

static struct hold *hold_of(const struct thread_state *state, uint32_t lock)
{
    for (size_t i = 0; i < state->hold_count; i++) {
        if (state->holds[i].lock == lock) {
            return &state->holds[i];
        }
    }
    return NULL;
}

static void acquire(struct threads *threads, const struct tms_event *event, uint64_t number)
{
    struct thread_state *state = state_of(threads, event->thread);
    struct hold *hold = hold_of(state, event->target);

    if (hold != NULL) {
        hold->depth++;
        return;
    }
    state->holds =
        grow(state->holds, &state->hold_capacity, state->hold_count + 1, sizeof(*state->holds));
    state->holds[state->hold_count++] = (struct hold){event->target, 1, number};
}

static void release(struct threads *threads, const struct tms_event *event)
{
    struct thread_state *state = state_of(threads, event->thread);
    struct hold *hold = hold_of(state, event->target);

    if (hold != NULL && --hold->depth == 0) {
        *hold = state->holds[--state->hold_count];
    }
}

uint64_t threads_held_since(const struct threads *threads, uint32_t thread, uint32_t lock)
{
    const struct hold *hold =
        thread < threads->state_count ? hold_of(&threads->states[thread], lock) : NULL;

    return hold != NULL ? hold->since : 0;
}

/* ---- events ------------------------------------------------------------------------------ */

void threads_follow(struct threads *threads, const struct tms_event *event, uint64_t number)
{
    struct thread_state *state = state_of(threads, event->thread);

    if (threads_opens(event)) {
        open_block(threads, event, number);
    } else if (event->kind == TMS_EVENT_END) {
        close_block(threads, event->thread, TMS_EVENT_BEGIN);
    } else if (event->kind == TMS_EVENT_EXIT) {
        close_block(threads, event->thread, TMS_EVENT_ENTER);
    } else if (event->kind == TMS_EVENT_RETURN) {
        close_block(threads, event->thread, TMS_EVENT_CALL);
    } else if (event->kind == TMS_EVENT_DEMOTE) {
        state->blocks[innermost_of(state, TMS_EVENT_BEGIN)].opened_by = TMS_EVENT_CALL;
    } else if (naive_is_acquire(event)) {
        acquire(threads, event, number);
    } else if (naive_is_release(event)) {
        release(threads, event);
    }
}

void threads_clear(struct threads *threads)
{
    for (size_t i = 0; i < threads->state_count; i++) {
        free(threads->states[i].blocks);
        free(threads->states[i].holds);
    }
    free(threads->states);
    free(threads->begun);
}
