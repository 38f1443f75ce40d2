/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that `check --json` and `run --json` wrote, read back: one JSON object after the other,
 * each with the results of some engines. What a newer version added is skipped; what is there must
 * be as docs/json.md says.
 *
 * All names are interned in one context, so that reports can show the findings. Memory: the file,
 * one parsed object, and all findings.
 */
#ifndef TMS_SAVED_SAVED_RESULT_H
#define TMS_SAVED_SAVED_RESULT_H

#include "base/arena.h"
#include "tmesis/tmesis.h"

/* A result of one engine; only what is listed here is filled. */
struct tms_saved_result {
    const char *path;         /* trace.path */
    bool live;                /* a program was watched */
    bool merged;              /* over the processes of a run */
    struct tms_result result; /* engine, verdict, blamed, findings */
};

struct tms_saved {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_arena arena; /* of the findings and everything that they point to */
    struct tms_saved_result *results;
    size_t count, capacity;
};

#define TMS_SAVED_REASON 512

/* Bytes of the largest file that is read. */
#define TMS_SAVED_MOST (UINT64_C(256) << 20)

/*
 * Reads a file, "-" being standard input. False with a sentence that names the file;
 * tms_saved_close is due in both cases.
 */
bool tms_saved_open(struct tms_saved *saved, const char *path, char reason[TMS_SAVED_REASON]);

/* The same from memory; `name` is for the sentence. */
bool tms_saved_parse(struct tms_saved *saved, const char *name, const char *bytes, size_t size,
                     char reason[TMS_SAVED_REASON]);

void tms_saved_close(struct tms_saved *saved);

#endif
