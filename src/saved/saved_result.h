/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that `check --json`, `run --json` and `hunt` wrote, read back: one JSON object after the
 * other, each with the results of some engines. What a newer version added is skipped; what is
 * there must be as docs/user/json.md says.
 *
 * All names are interned in one context, so that reports can show the findings. Memory: the file,
 * one parsed object, and all findings.
 */
#ifndef TMS_SAVED_SAVED_RESULT_H
#define TMS_SAVED_SAVED_RESULT_H

#include "base/arena.h"
#include "tmesis/tmesis.h"

/* A result of one engine, with all findings, also those that are known or suppressed. */
struct tms_saved_result {
    const char *path;         /* trace.path */
    bool live;                /* a program was watched */
    bool merged;              /* over the processes of a run */
    bool baseline;            /* findings were compared with one */
    struct tms_result result; /* `known` and `suppressed` are 0: such findings are in the list */
};

/* An object: the results of one trace, process, or hunt. */
struct tms_saved_object {
    const char *path;    /* trace.path, … */
    const char *format;  /* … trace.format, … */
    const char *blocks;  /* … trace.blocks: NULL if it is not there, … */
    const char *loss;    /* … and trace.loss */
    const char *command; /* NULL for a trace */
    const char *host;    /* NULL: unknown */
    bool merged, partial, locks_only;
    bool baseline;            /* its findings were compared with one */
    uint64_t processes, runs; /* 0: one */
    double started;           /* seconds since 1970; 0: unknown */
    double seconds;
    struct tms_trace_summary summary;
    struct tms_coverage coverage;
    size_t first, count; /* its results in the list of all */
};

struct tms_saved {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_arena arena; /* of the findings and everything that they point to */
    struct tms_saved_result *results;
    size_t count, capacity;
    struct tms_saved_object *objects; /* those that have results */
    size_t object_count, object_capacity;
};

#define TMS_SAVED_REASON 512

/* Bytes of the largest file that is read. */
#define TMS_SAVED_MOST (UINT64_C(256) << 20)

/*
 * Reads a file, "-" being standard input. False with a sentence that names the file;
 * tms_saved_close is due in both cases.
 */
bool tms_saved_open(struct tms_saved *saved, const char *path, char reason[TMS_SAVED_REASON]);

/* The bytes of such a file, to be freed; NULL with a sentence. */
char *tms_saved_read(const char *path, size_t *size, char reason[TMS_SAVED_REASON]);

/* The same as tms_saved_open from memory; `name` is for the sentence. */
bool tms_saved_parse(struct tms_saved *saved, const char *name, const char *bytes, size_t size,
                     char reason[TMS_SAVED_REASON]);

void tms_saved_close(struct tms_saved *saved);

/*
 * The results of the index-th object as a finished analysis, to be reported; it points into
 * `saved`, which must outlive it. TMS_OK or a code.
 */
int tms_saved_restore(struct tms_saved *saved, size_t index, struct tms_analysis **out);

/*
 * Marks findings as suppressed whose id the function says yes to, with those that say the same or
 * that it is a judgement about.
 */
typedef bool tms_saved_ask(void *user, const char *id);
void tms_saved_suppress(struct tms_saved *saved, tms_saved_ask *is_suppressed, void *user);

/* Of several processes, the merged result is shown if there is one. */
bool tms_saved_is_shown(const struct tms_saved *saved, size_t index);

/* The settings of a report on it: path, format, command, coverage and the like. */
void tms_saved_settings(const struct tms_saved_object *object,
                        struct tms_report_settings *settings);

#endif
