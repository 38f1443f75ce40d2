/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule file (docs/user/schedules.md): how the runtime is to steer the threads of a program,
 * as text. Command and runtime read it with this parser, which allocates nothing, calls nothing
 * that a program may have interposed but memcpy and the like, and keeps no state: any thread may
 * call it. Cost: linear in the length of the text.
 */
#ifndef TMS_PROTOCOL_SCHEDULE_H
#define TMS_PROTOCOL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMS_SCHEDULE_WINDOWS   256u
#define TMS_SCHEDULE_MOST      (1u << 20) /* bytes of a file */
#define TMS_SCHEDULE_COMPLAINT 256
#define TMS_SITE_OBJECT        128 /* of a site, with the zero at its end; longer names are cut */
#define TMS_SITE_SIZE          (TMS_SITE_OBJECT + 24)

/* X(name, word, meaning) */
#define TMS_STRATEGIES(X)                                                                          \
    X(LEARN, "learn", "no thread is delayed")                                                      \
    X(NOISE, "noise", "random delays")                                                             \
    X(PCT, "pct", "one thread at a time, by random priorities")                                    \
    X(DIRECTED, "directed", "threads are held inside windows")

enum tms_strategy {
#define X(name, word, meaning) TMS_STRATEGY_##name,
    TMS_STRATEGIES(X)
#undef X
        TMS_STRATEGY_COUNT
};

/* An instruction: the file that it is in, as tms_site_write has it, and where in that. */
struct tms_schedule_site {
    char object[TMS_SITE_OBJECT]; /* "": none is given */
    uint64_t offset;
};

struct tms_schedule_window {
    struct tms_schedule_site close, open, foreign, until;
    bool two_locks; /* `open` and `close` acquire different locks */
};

struct tms_schedule {
    enum tms_strategy strategy;
    uint64_t seed;
    uint64_t strength; /* of noise, per cent */
    uint64_t depth;    /* of pct: d */
    uint64_t points;   /* of pct: k */
    uint64_t bound;    /* of directed, milliseconds */
    uint32_t window_count;
    struct tms_schedule_window windows[TMS_SCHEDULE_WINDOWS];
};

/* What is wrong with a text, and in which of its lines, counted from 1. */
struct tms_schedule_complaint {
    unsigned line;
    char text[TMS_SCHEDULE_COMPLAINT];
};

/* What a file says that has nothing but a strategy. */
void tms_schedule_init(struct tms_schedule *schedule, enum tms_strategy strategy);

/* False with a complaint if the text is no schedule; `schedule` means nothing then. */
bool tms_schedule_parse(struct tms_schedule *schedule, const char *text, size_t length,
                        struct tms_schedule_complaint *complaint);

/*
 * "bank+0x12ab": the base name of a path, with blanks, `#`, `%`, `+` and control characters as %XX,
 * and an offset in that file. Returns its length.
 */
size_t tms_site_write(const char *path, uint64_t offset, char text[TMS_SITE_SIZE]);

/* Is the site in the file of this path? */
bool tms_site_is_in(const struct tms_schedule_site *site, const char *path);

const char *tms_strategy_word(enum tms_strategy strategy);

#endif
