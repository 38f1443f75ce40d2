/* SPDX-License-Identifier: Apache-2.0 */
/* A violation as an engine reports it to its host. */
#ifndef TMS_ENGINE_API_VIOLATION_H
#define TMS_ENGINE_API_VIOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmesis/tmesis.h"

/* One violation as an engine found it; the host copies it. */
struct tms_violation {
    const char *kind; /* "cycle" for the exact engines */
    enum tms_evidence evidence;
    uint64_t event;
    uint64_t key;     /* the pattern (fingerprint.h), hashed by the engine; 0: the host does it */
    uint64_t repeats; /* further violations of this pattern, which are only counted */
    uint32_t thread;
    bool not_atomic;
    struct tms_transaction transaction;
    const struct tms_step *cycle; /* NULL if the engine has none */
    size_t cycle_length;
    const struct tms_transaction *refuted; /* the blocks that are refuted, outermost first */
    size_t refuted_count;                  /* 0: the engine knows only `transaction` */
    const uint32_t *held;                  /* locks of the thread at the event, if known */
    size_t held_count;
    const struct tms_turn *schedule; /* roles are string constants, they are not copied */
    size_t schedule_length;
    const char *caveat; /* a string constant */
};

#endif
