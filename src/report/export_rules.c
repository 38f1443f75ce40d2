/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of documents; see export_rules.h. */
#include "report/export_rules.h"

#include <string.h>

#define ONE_SECTION                                                                                \
    "Make both accesses in one critical section, and let every thread that uses the data hold "    \
    "the "                                                                                         \
    "same lock."
#define INTENDED                                                                                   \
    "Nothing, if that is intended; otherwise put both accesses into one critical section."

static const struct tms_export_rule rules[] = {
    [TMS_PATTERN_LOST_UPDATE] =
        {"lost-update", TMS_LEVEL_ERROR, "An update of shared data is lost.",
         "A block reads a variable and later writes it. Another thread changes the variable in "
         "between, and the write discards that change.",
         "Use one atomic operation, or hold one lock from the read to the write; every other "
         "writer must hold it as well."},
    [TMS_PATTERN_INCONSISTENT_READS] =
        {"inconsistent-reads", TMS_LEVEL_ERROR, "A block reads values that never existed together.",
         "A block reads two variables that belong together. Another thread changes both between "
         "the two reads, so the block sees one old and one new value.",
         "Make both reads in one critical section, and both changes in another one."},
    [TMS_PATTERN_CHANGED_BETWEEN_READS] =
        {"changed-between-reads", TMS_LEVEL_WARNING, "A value changes between two reads of it.",
         "A block reads a variable twice, and another thread changes it in between. What the block "
         "concluded from the first read may be wrong.",
         "Read the variable once and keep the value, or make both reads in one critical section."},
    [TMS_PATTERN_STALE_DECISION] =
        {"stale-decision", TMS_LEVEL_WARNING, "A block acts on a value that has changed.",
         "A block reads a variable and then writes another one. Another thread changes the first "
         "in between, so the decision to write rests on an outdated value.",
         "Read and write in one critical section."},
    [TMS_PATTERN_FOREIGN_VALUE_READ_BACK] =
        {"foreign-value-read-back", TMS_LEVEL_WARNING,
         "A block reads back a value that another thread wrote.",
         "A block writes a variable and uses it again. Another thread writes it in between, so the "
         "block continues with a value that is not its own.",
         "Keep the value in a local variable, or make both accesses in one critical section."},
    [TMS_PATTERN_INTERLEAVED_WRITES] =
        {"interleaved-writes", TMS_LEVEL_WARNING, "Two groups of writes are mixed.",
         "Two threads write the same two variables, and their writes interleave: in the end each "
         "thread's value is in one of them.",
         "Make both writes in one critical section, in both threads."},
    [TMS_PATTERN_INTERMEDIATE_VALUE_SEEN] =
        {"intermediate-value-seen", TMS_LEVEL_WARNING,
         "Another thread sees a value that is not final.",
         "A block changes a variable twice, and another thread reads it in between.", ONE_SECTION},
    [TMS_PATTERN_HALF_UPDATE_SEEN] =
        {"half-update-seen", TMS_LEVEL_NOTE, "Another thread sees half of an update.",
         "A block changes two variables. Another thread uses the first after its change and the "
         "second before it.",
         ONE_SECTION},
    [TMS_PATTERN_EXCHANGE] = {"exchange", TMS_LEVEL_NOTE,
                              "A block hands something over and takes an answer.",
                              "A block writes a variable, another thread reads it and writes a "
                              "second one, which the block then reads.",
                              INTENDED},
    [TMS_PATTERN_INTERLEAVED_UPDATES] = {"interleaved-updates", TMS_LEVEL_NOTE,
                                         "Complete updates take turns.",
                                         "Another thread updates a variable between two updates of "
                                         "a block. Each update is complete "
                                         "and uses the newest value.",
                                         INTENDED},
    [TMS_PATTERN_OVERWRITTEN] =
        {"overwritten", TMS_LEVEL_NOTE, "A value of another thread is overwritten.",
         "Another thread writes a variable between two writes of a block, which overwrites that "
         "value without reading it.",
         INTENDED},
    [TMS_PATTERN_RECHECKED] = {"rechecked", TMS_LEVEL_NOTE,
                               "A value is checked again under a lock.",
                               "A block reads a variable without a lock and again under one: "
                               "double-checked locking.",
                               "Nothing, if only the second check decides."},
    [TMS_PATTERN_POLLED] = {"polled", TMS_LEVEL_NOTE, "A value is polled.",
                            "A block reads a variable again and again on one line.",
                            "Nothing, if it waits for the variable to change."},
    [TMS_PATTERN_ORDER_ONLY] =
        {"order-only", TMS_LEVEL_NOTE, "No data is affected, only the order of locks.",
         "Another thread takes a lock between two critical sections of a block, but does nothing "
         "with the data that the block uses.",
         "Nothing, as far as data was recorded."},
    [TMS_PATTERN_OWN_THREAD] = {"own-thread", TMS_LEVEL_NOTE,
                                "A block starts or joins the thread that comes in between.",
                                "The block itself starts the other thread, or waits for its end.",
                                "Nothing, if it is meant to wait for that thread."},
    [TMS_PATTERN_UNWATCHED] =
        {"unwatched", TMS_LEVEL_NOTE, "A block is cut; what happens to its data is not known.",
         "Another thread takes a lock between two critical sections of a block. No accesses to "
         "memory were recorded.",
         "Build the program with tmesis cc to have its memory watched."},
    {"not-serializable", TMS_LEVEL_WARNING,
     "A block is not atomic: no serial order explains the run.",
     "The block would have to run both before and after what other threads did. The finding was "
     "not judged by data, so harm is possible but not shown.",
     ONE_SECTION},
    {"predicted-cut", TMS_LEVEL_WARNING, "A block can be cut apart with another timing.",
     "Another schedule of the same run lets another thread act between two steps of the block.",
     "Hold one lock across both steps."},
    {"possible-cut", TMS_LEVEL_NOTE, "A block may be cut apart with another timing.",
     "The locks that were held would let another thread act in between. Something other than locks "
     "may prevent it.",
     "Hold one lock across the whole block, unless something else keeps the threads apart."},
    {"irreducible", TMS_LEVEL_NOTE, "The steps of a block can't be moved together.",
     "A block is atomic if all it does can be moved to one point without any other thread "
     "noticing. "
     "One of its events can't.",
     "Hold one lock across the whole block, unless something else keeps the threads apart."},
    {"data-race", TMS_LEVEL_NOTE, "Two unordered accesses to the same memory.",
     "Two threads access a variable, at least one of them writes, and no lock, atomic operation, "
     "thread start or end, or barrier orders the two.",
     "Protect both accesses with one lock, or make them atomic operations."},
    {"deadlock", TMS_LEVEL_WARNING, "Threads may wait for each other forever.",
     "Each of the threads holds a lock that the next one wants.",
     "Take the locks in the same order everywhere."},
};

#define RULES (sizeof(rules) / sizeof(rules[0]))

_Static_assert(RULES == TMS_PATTERN_COUNT + 6, "patterns come first, then six kinds");

/* Which rule a kind of finding is, by its place after the patterns. */
static const struct {
    const char *kind;
    size_t rule;
} kinds[] = {
    {"cycle", TMS_PATTERN_COUNT},         {"before", TMS_PATTERN_COUNT + 1},
    {"in", TMS_PATTERN_COUNT + 1},        {"after", TMS_PATTERN_COUNT + 1},
    {"pair", TMS_PATTERN_COUNT + 1},      {"pattern", TMS_PATTERN_COUNT + 2},
    {"reduction", TMS_PATTERN_COUNT + 3}, {"race", TMS_PATTERN_COUNT + 4},
    {"deadlock", TMS_PATTERN_COUNT + 5},
};

const struct tms_export_rule *tms_export_rule(size_t index)
{
    return index < RULES ? &rules[index] : NULL;
}

const struct tms_export_rule *tms_export_rule_of(const struct tms_finding *finding)
{
    size_t rule = kinds[0].rule;

    if (finding->judgement != NULL) {
        return &rules[finding->judgement->pattern];
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        rule = strcmp(kinds[i].kind, finding->kind) == 0 ? kinds[i].rule : rule;
    }
    return &rules[rule];
}

size_t tms_export_rule_index(const struct tms_export_rule *rule)
{
    return (size_t)(rule - rules);
}
