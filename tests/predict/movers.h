/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small traces with known answers for the engines of reduction, and the pieces that they are made
 * of. A trace is written in one line: "thread operation operand; …".
 */
#ifndef TMS_PREDICT_MOVERS_H
#define TMS_PREDICT_MOVERS_H

#include "tmesis/tmesis.h"

/* "reduction" with everything escaped from the start, unless it says otherwise. */
struct switches {
    const char *engine;
    enum tms_race_test race_test;
    enum tms_escape escape;
    bool no_periods, no_acq_rel;
};

struct golden {
    const char *title;
    const char *trace;
    struct switches switches;
    uint64_t answer[4]; /* races, transactions that fail; the first: commit point, too late */
};

extern const struct golden goldens[];
extern const size_t golden_count;

#define ALL         .escape = TMS_ESCAPE_OFF
#define ONLINE      .engine = "atomizer", ALL
#define TEST(which) .race_test = TMS_RACE_##which

/* The threads of figure 4. */
#define T1 "t1 begin t1; t1 acq o1; t1 acq o2; t1 w x; t1 w x; t1 rel o2; t1 rel o1; t1 end; "
#define T2 "t2 begin t2; t2 acq o2; t2 r x; t2 rel o2; t2 end; "
#define T3 "t3 begin t3; t3 acq o1; t3 r x; t3 rel o1; t3 end; "
#define T4 "t4 begin t4; t4 r x; t4 acq o1; t4 acq o2; t4 w x; t4 rel o2; t4 rel o1; t4 end; "

/* A thread adds to a sum of its own, under a lock that all use for theirs. */
#define LOCAL(t, v)                                                                                \
    t " begin add; " t " acq m; " t " r " v "; " t " rel m; " t " acq m; " t " w " v "; " t        \
      " rel m; " t " end; "

/* An unlocked x := x + 1. */
#define INCREMENT(t) t " begin inc; " t " r x; " t " w x; " t " end; "

/* The same under m, in two sections or in one. */
#define CUT(t)                                                                                     \
    t " begin cut; " t " acq m; " t " r x; " t " rel m; " t " acq m; " t " w x; " t " rel m; " t   \
      " end; "
#define WHOLE(t) t " begin set; " t " acq m; " t " r x; " t " w x; " t " rel m; " t " end; "

#endif
