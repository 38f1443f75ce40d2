/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations of candidates, and what docs/user/judge.md, Executions and drivers, says of them. The
 * end of an activation is looked for from its begin: the event at which the thread closes more
 * blocks of its kind than it has opened since.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/naive.h"

/* ---- candidates -------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *label)
{
    size_t length = strlen(pattern);

    return pattern[length - 1] == '*' ? strncmp(pattern, label, length - 1) == 0
                                      : strcmp(pattern, label) == 0;
}

/* The last matching rule counts; without one a label is no candidate if any rule says "atomic". */
static bool is_candidate(const struct naive *naive, uint32_t label)
{
    const char *name = tms_name(naive->context, TMS_CLASS_LABEL, label, NULL);
    bool candidate = true;

    for (size_t i = 0; i < naive->rule_count; i++) {
        candidate = candidate && !naive->rules[i].atomic;
    }
    for (size_t i = 0; i < naive->rule_count; i++) {
        if (matches(naive->rules[i].pattern, name)) {
            candidate = naive->rules[i].atomic;
        }
    }
    return candidate;
}

/* ---- begin and end ----------------------------------------------------------------------- */

static bool opens(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_ENTER ||
           event->kind == TMS_EVENT_CALL;
}

static bool closes(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_END || event->kind == TMS_EVENT_EXIT ||
           event->kind == TMS_EVENT_RETURN;
}

/* The event kind that closes, or demotes, a block that was opened this way. */
static uint8_t closing(uint8_t opening)
{
    return opening == TMS_EVENT_BEGIN   ? TMS_EVENT_END
           : opening == TMS_EVENT_ENTER ? TMS_EVENT_EXIT
                                        : TMS_EVENT_RETURN;
}

struct open_block {
    size_t begin;
    uint8_t kind; /* of the event that opens; call after a demotion */
};

/* The position in the thread's stack of the innermost block that is closed so. */
static size_t innermost_of(const struct open_block *stack, size_t depth, uint8_t kind)
{
    while (depth > 0 && closing(stack[depth - 1].kind) != kind) {
        depth--;
    }
    return depth - 1;
}

/*
 * The event that closes the block begun at `begin`: all blocks of its thread are followed from the
 * start of the trace.
 */
static size_t end_of(const struct naive *naive, size_t begin)
{
    uint32_t thread = naive->events[begin].thread;
    struct open_block *stack = naive_array(naive->count, sizeof(*stack));
    size_t depth = 0, end = naive->count;

    for (size_t k = 0; k < naive->count && end == naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        if (event->kind == TMS_EVENT_JOIN && event->target == thread) {
            end = k;
        } else if (event->thread != thread) {
            continue;
        } else if (opens(event)) {
            stack[depth++] = (struct open_block){k, event->kind};
        } else if (event->kind == TMS_EVENT_DEMOTE) {
            stack[innermost_of(stack, depth, TMS_EVENT_END)].kind = TMS_EVENT_CALL;
        } else if (closes(event)) {
            size_t at = innermost_of(stack, depth, event->kind);
            end = stack[at].begin == begin ? k : end;
            memmove(&stack[at], &stack[at + 1], (--depth - at) * sizeof(*stack));
        }
    }
    free(stack);
    return end;
}

size_t naive_innermost(const struct naive *naive, size_t one, size_t other)
{
    size_t first = one < other ? one : other, last = one < other ? other : one;
    size_t found = NAIVE_NONE;

    for (size_t i = 0; i < naive->activation_count; i++) {
        const struct naive_activation *activation = &naive->activations[i];
        if (activation->thread == naive->events[one].thread && activation->begin < first &&
            activation->end > last) {
            found = i; /* they are in the order of their begins */
        }
    }
    return found;
}

/* ---- busy -------------------------------------------------------------------------------- */

static bool is_atomic_write(const struct naive *naive, size_t k)
{
    uint8_t kind = naive->events[k].kind;

    return kind == TMS_EVENT_UPDATE || (kind == TMS_EVENT_WRITE && naive->facts[k].atomic);
}

static bool synchronises(const struct naive *naive, size_t k)
{
    const struct tms_event *event = &naive->events[k];

    return (naive_is_acquire(event) && !naive->facts[k].inner) || is_atomic_write(naive, k) ||
           event->kind == TMS_EVENT_WAIT || event->kind == TMS_EVENT_ARRIVE ||
           event->kind == TMS_EVENT_FORK || event->kind == TMS_EVENT_JOIN;
}

/* How often the activation did the same as at event k, up to k and that included. */
static unsigned repeated(const struct naive *naive, const struct naive_activation *activation,
                         size_t event)
{
    const struct tms_event *model = &naive->events[event];
    unsigned times = 0;

    for (size_t k = activation->begin; k <= event; k++) {
        const struct tms_event *other = &naive->events[k];
        bool alike = naive_is_acquire(model) ? naive_is_acquire(other) : is_atomic_write(naive, k);
        times += other->thread == model->thread && other->target == model->target && alike &&
                 !naive->facts[k].inner;
    }
    return times;
}

static bool is_busy(const struct naive *naive, struct naive_activation *activation)
{
    unsigned acquired = 0, all = 0, inside = 0;
    bool same = false;

    for (size_t k = 0; k < activation->end; k++) {
        const struct tms_event *event = &naive->events[k];
        if (event->thread != activation->thread || !synchronises(naive, k)) {
            continue;
        }
        all++;
        if (k < activation->begin) {
            continue;
        }
        inside++;
        activation->synchronised++;
        acquired += naive_is_acquire(event);
        if ((naive_is_acquire(event) || is_atomic_write(naive, k)) &&
            repeated(naive, activation, k) > 4) {
            same = true;
        }
    }
    activation->busy_by_share = !same && acquired > 16 && 2 * inside > all;
    return same || activation->busy_by_share;
}

static bool was_delayed(const struct naive *naive, const struct naive_activation *activation)
{
    for (size_t k = activation->begin; k < activation->end; k++) {
        if (naive->events[k].kind == TMS_EVENT_DELAY &&
            naive->events[k].thread == activation->thread) {
            return true;
        }
    }
    return false;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static size_t block_of(struct naive *naive, uint32_t label)
{
    char function[NAIVE_TEXT];
    size_t at = 0;

    naive_function(tms_name(naive->context, TMS_CLASS_LABEL, label, NULL), function,
                   sizeof(function));
    while (at < naive->block_count && strcmp(naive->blocks[at].function, function) != 0) {
        at++;
    }
    if (at == naive->block_count) {
        naive->block_count++;
        memcpy(naive->blocks[at].function, function, sizeof(function));
    }
    return at;
}

static void mark_edge(struct naive *naive, const struct naive_activation *activation, size_t edge)
{
    if (edge < naive->count && naive->events[edge].thread == activation->thread) {
        naive->facts[edge].opens = true;
        naive->facts[edge].outermost = naive_innermost(naive, edge, edge) == NAIVE_NONE;
    }
}

/* Marks where activations begin and end, and whether their thread has no other open. */
static void find_edges(struct naive *naive)
{
    for (size_t i = 0; i < naive->activation_count; i++) {
        mark_edge(naive, &naive->activations[i], naive->activations[i].begin);
        mark_edge(naive, &naive->activations[i], naive->activations[i].end);
    }
}

void naive_find_activations(struct naive *naive)
{
    naive->activations = naive_array(naive->count, sizeof(*naive->activations));
    naive->blocks = naive_array(naive->count, sizeof(*naive->blocks));
    for (size_t k = 0; k < naive->count; k++) {
        const struct tms_event *event = &naive->events[k];
        if (!opens(event) || !is_candidate(naive, event->target)) {
            continue;
        }
        struct naive_activation *activation = &naive->activations[naive->activation_count++];
        *activation = (struct naive_activation){.thread = event->thread,
                                                .label = event->target,
                                                .begin = k,
                                                .end = end_of(naive, k),
                                                .block = block_of(naive, event->target)};
        activation->busy = is_busy(naive, activation);
        activation->delayed = was_delayed(naive, activation);
        naive->blocks[activation->block].executions++;
        naive->blocks[activation->block].busy += activation->busy;
        naive->blocks[activation->block].same += activation->busy && !activation->busy_by_share;
    }
    find_edges(naive);
    for (size_t i = 0; i < naive->block_count; i++) {
        struct naive_block *block = &naive->blocks[i];
        block->driver = 2 * block->busy > block->executions || strcmp(block->function, "main") == 0;
    }
}
