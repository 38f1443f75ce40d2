/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named shapes.
 *
 * `bench` is the trace of this project's own measurements; `bench-any` is the same without the
 * discipline. The others take the numbers of Tables 1 and 2 in "Atomicity Checking in Linear Time
 * using Vector Clocks" (Mathur and Viswanathan, ASPLOS 2020): events, threads, locks, variables,
 * transactions, and whether a violation was found. They are substitutes of that shape, not the
 * programs: where accesses went is not published.
 *
 * What is not in the tables is chosen so:
 * - transactions: their mean length follows from events per transaction, with a tenth of the
 *   events outside. It is at least 3 (begin, an access, end) and at most 1000; beyond that the
 *   rest of the events is outside blocks. No transactions: all events are.
 * - the place of the violation: late (90 %) in Table 1, early (1 %) in Table 2, as the text says.
 * - fewer events than the original: variables go down in proportion, but to a thousand at
 *   least if there were so many; locks so that each can have a hundred events; transactions in
 *   proportion, but to one a thread at least if there were so many. More events change nothing.
 *
 * Two oddities of the tables: lufact is printed with more transactions (642M) than events, and is
 * taken as 642K; the row of tomcat is the row of sparsematmult once more.
 */
#include "gen/presets.h"

#include <inttypes.h>
#include <string.h>

#include "gen/random.h"

#define K *UINT64_C(1000)
#define M *UINT64_C(1000000)

enum violation { NEVER, LATE, EARLY };

struct program {
    const char *name;
    uint64_t events, threads, locks, variables, transactions;
    enum violation violation;
};

static const struct program programs[] = {
    /* Table 1 */
    {"avrora", 2400 M, 7, 7, 1079 K, 498 M, LATE},
    {"elevator", 280 K, 5, 50, 725, 22600, NEVER},
    {"hedc", 9800, 7, 13, 1694, 84, LATE},
    {"luindex", 570 M, 3, 65, 2500 K, 86 M, LATE},
    {"lusearch", 2000 M, 14, 772, 38 M, 306 M, LATE},
    {"moldyn", 1700 M, 4, 1, 121 K, 1400 K, LATE},
    {"montecarlo", 494 M, 4, 1, 30500 K, 812 K, LATE},
    {"philo", 613, 6, 1, 24, 0, NEVER},
    {"pmd", 367 M, 13, 223, 12900 K, 81 M, LATE},
    {"raytracer", 2800 M, 4, 1, 12600 K, 277 M, NEVER},
    {"sor", 608 M, 4, 2, 1 M, 637 K, LATE},
    {"sunflow", 16800 K, 16, 9, 1200 K, 2500 K, LATE},
    {"tsp", 312 M, 9, 2, 181 M, 9, LATE},
    {"xalan", 1000 M, 13, 8624, 31 M, 214 M, LATE},
    /* Table 2 */
    {"batik", 186 M, 7, 1916, 4900 K, 15 M, EARLY},
    {"crypt", 126 M, 7, 1, 9 M, 50, EARLY},
    {"fop", 96 M, 1, 115, 5 M, 25 M, NEVER},
    {"lufact", 135 M, 4, 1, 252 K, 642 K, EARLY},
    {"series", 40 M, 4, 1, 20 K, 20 M, EARLY},
    {"sparsematmult", 726 M, 4, 1, 1600 K, 25, EARLY},
    {"tomcat", 726 M, 4, 1, 1600 K, 25, EARLY},
};

#define PROGRAMS (sizeof programs / sizeof *programs)

static const char *const own[] = {"bench", "bench-any"};

#define OWN (sizeof own / sizeof *own)

const char *tms_preset_name(size_t index)
{
    return index < OWN ? own[index] : index < OWN + PROGRAMS ? programs[index - OWN].name : NULL;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Scales `number` in proportion to the events of the program, but not below `floor`. */
static uint64_t scaled(const struct program *program, uint64_t events, uint64_t number,
                       uint64_t floor)
{
    if (events >= program->events) {
        return number;
    }
    uint64_t part = tms_part(number, events, program->events);
    return larger(part, smaller(number, floor));
}

/* In millionths. */
static uint64_t ratio(uint64_t events, uint64_t transactions)
{
    return tms_part(events, TMS_MILLION, transactions);
}

static void set_blocks(const struct program *program, struct tms_shape *shape)
{
    const uint64_t shortest = 3 * (uint64_t)TMS_MILLION;
    const uint64_t longest = 1000 * (uint64_t)TMS_MILLION;
    if (program->transactions == 0) {
        shape->unary = TMS_MILLION;
        return;
    }
    uint64_t least = smaller(program->transactions, program->threads);
    uint64_t each =
        smaller(ratio(program->events, program->transactions), ratio(shape->events, least));
    shape->length = larger(shortest, smaller(longest, each / 10 * 9));
    shape->unary = shape->length < each ? TMS_MILLION - (uint32_t)ratio(shape->length, each) : 0;
}

static void set_violation(const struct program *program, struct tms_shape *shape)
{
    if (program->violation != NEVER) {
        shape->planting = TMS_PLANT_SHARE;
        shape->violation_at = program->violation == LATE ? 900000 : 10000;
    }
}

static void shape_program(const struct program *program, uint64_t events, struct tms_shape *shape)
{
    shape->events = events > 0 ? events : smaller(program->events, 1 M);
    shape->threads = program->threads;
    shape->locks = scaled(program, shape->events, program->locks, larger(1, shape->events / 100));
    shape->variables = scaled(program, shape->events, program->variables, 1000);
    shape->labels = larger(1, smaller(program->transactions, 50));
    shape->fork_join = program->threads > 1;
    set_blocks(program, shape);
    set_violation(program, shape);
}

static void shape_bench(const char *name, uint64_t events, struct tms_shape *shape)
{
    shape->events = events > 0 ? events : 1 M;
    shape->threads = 8;
    shape->locks = 20;
    shape->variables = 10000;
    shape->length = 20 * (uint64_t)TMS_MILLION;
    shape->nesting = 2;
    shape->labels = 20;
    shape->planting = strcmp(name, "bench-any") == 0 ? TMS_PLANT_ANY : TMS_PLANT_NONE;
}

void tms_preset_shape(const char *name, uint64_t events, struct tms_shape *shape)
{
    tms_shape_init(shape);
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (strcmp(programs[i].name, name) == 0) {
            shape_program(&programs[i], events, shape);
            return;
        }
    }
    shape_bench(name, events, shape);
}

static void list_one(FILE *out, const struct program *program, const char *violation)
{
    fprintf(out, "%-14s %11" PRIu64 " %8" PRIu64 " %6" PRIu64 " %10" PRIu64 " %13" PRIu64 "  %s\n",
            program->name, program->events, program->threads, program->locks, program->variables,
            program->transactions, violation);
}

void tms_presets_list(FILE *out)
{
    static const char *const where[] = {"none", "late", "early"};

    fprintf(out, "%-14s %11s %8s %6s %10s %13s  %s\n", "preset", "events", "threads", "locks",
            "variables", "transactions", "violation");
    for (size_t i = 0; i < OWN; i++) {
        struct tms_shape s;
        tms_preset_shape(own[i], 0, &s);
        uint64_t in_blocks = tms_part(s.events, TMS_MILLION - s.unary, 1);
        const struct program as_program = {
            own[i], s.events, s.threads, s.locks, s.variables, in_blocks / s.length, NEVER};
        list_one(out, &as_program, s.planting == TMS_PLANT_ANY ? "any" : "none");
    }
    for (size_t i = 0; i < PROGRAMS; i++) {
        list_one(out, &programs[i], where[programs[i].violation]);
    }
}
