/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads results that `check --json`, `run --json` and `hunt` wrote: a sequence of JSON objects,
 * each with the results of some engines. Unknown members of newer versions are skipped; known ones
 * must conform to docs/user/json.md.
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
    const char *unread;  /* why the trace could not be read; NULL: it was, and it has results */
    const char *command; /* NULL for a trace */
    const char *host;    /* NULL: unknown */
    bool merged, partial, locks_only;
    bool baseline;            /* its findings were compared with one */
    uint64_t processes, runs; /* 0: one */
    uint64_t failed_runs;     /* of a hunt, … */
    const char *failures;     /* … and how they ended, "SIGABRT, status 3"; NULL: unknown */
    const char *version;      /* of the tmesis that wrote it; NULL: unknown */
    int64_t exit_status;      /* of the program; -1: unknown */
    int64_t exit_signal;      /* that ended it; -1: none */
    uint64_t seed;
    bool seeded;
    const char *started_text; /* as in the file; NULL: unknown */
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
    /* Those that have results, could not be read, or are of a hunt: all of its runs may fail. */
    struct tms_saved_object *objects;
    size_t object_count, object_capacity;
    /* The merged object; or else the first that was read, results or not; or else the last. */
    struct tms_saved_object whole;
};

#define TMS_SAVED_REASON 512

/* Bytes of the largest file that is read. */
#define TMS_SAVED_MOST (UINT64_C(1) << 30)

/*
 * Reads a file, "-" being standard input. False with a sentence that names the file;
 * call tms_saved_close in both cases.
 */
bool tms_saved_open(struct tms_saved *saved, const char *path, char reason[TMS_SAVED_REASON]);

/* The bytes of such a file, which the caller frees; NULL with a sentence. */
char *tms_saved_read(const char *path, size_t *size, char reason[TMS_SAVED_REASON]);

/* The same as tms_saved_open from memory; `name` is used in the error message. */
bool tms_saved_parse(struct tms_saved *saved, const char *name, const char *bytes, size_t size,
                     char reason[TMS_SAVED_REASON]);

void tms_saved_close(struct tms_saved *saved);

/*
 * Creates a finished analysis from the results of the index-th object, for reports. It points into
 * `saved`, which must outlive it. TMS_OK or a code.
 */
int tms_saved_restore(struct tms_saved *saved, size_t index, struct tms_analysis **out);

/*
 * Marks the findings as suppressed for whose id the function returns true, together with those that
 * are the same (same_as, judged).
 */
typedef bool tms_saved_ask(void *user, const char *id);
void tms_saved_suppress(struct tms_saved *saved, tms_saved_ask *is_suppressed, void *user);

/* Is the object to be shown? Of several processes only the merged result is, if there is one. */
bool tms_saved_is_shown(const struct tms_saved *saved, size_t index);

/* Fills in the settings of its report: path, format, command, coverage and the like. */
void tms_saved_settings(const struct tms_saved_object *object,
                        struct tms_report_settings *settings);

#endif
