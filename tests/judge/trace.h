/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traces for `judge`: made of a fixed vocabulary, printed as STD, shrunk when they show a
 * mismatch. The seed alone determines a trace.
 */
#ifndef TMS_JUDGE_TRACE_H
#define TMS_JUDGE_TRACE_H

#include <stdio.h>

#include "judge/naive.h"

#define TRACE_MOST 640
#define MOST_RULES 2
#define RULE_SETS  5
#define THREADS    4
#define VARIABLES  31
#define LOCKS      16
#define LABELS     11
#define OBJECTS    4
#define CONDITIONS 1
#define BARRIERS   1

struct trace {
    struct tms_event events[TRACE_MOST];
    size_t count;
    unsigned split;    /* enum tms_split */
    unsigned rule_set; /* index of the specification, 0: none */
};

/* Ids of all names. */
struct words {
    uint32_t threads[THREADS], variables[VARIABLES], locks[LOCKS], labels[LABELS];
    uint32_t objects[OBJECTS], conditions[CONDITIONS], barriers[BARRIERS];
    uint32_t channel;
};

/* False when memory is short. */
bool words_init(struct words *words, struct tms_context *context);

void trace_make(const struct words *words, uint64_t seed, struct trace *trace);
const char *trace_profile(uint64_t seed);

/* The rules of a specification. */
const struct naive_rule *trace_rules(const struct trace *trace, size_t *count);

void trace_print(const struct trace *trace, const struct tms_context *context, FILE *to);

/* Does the trace still show it? Of one that is not well-formed the answer is false. */
typedef bool trace_shows(void *user, const struct trace *trace);

/* Deletes events while the rest still shows it. */
void trace_shrink(struct trace *trace, trace_shows *shows, void *user);

#endif
