/* SPDX-License-Identifier: Apache-2.0 */
/* The words for each pattern; see pattern_words.h. */
#include "report/pattern_words.h"

#include <assert.h>

#define IN_ONE_SECTION "make both accesses in one critical section, @R."
#define OR_NOTHING     "not needed if this is intended; otherwise " IN_ONE_SECTION

static const struct tms_pattern_words words[] = {
    [TMS_PATTERN_LOST_UPDATE] =
        {"an update of @X was lost", "an update of @X can be lost",
         "@U changed @x after @T had read it; @T's write discards that change.",
         "@U changes @x after @T has read it; @T's write then discards that change.",
         "overwrites @U's update",
         "use one atomic operation, or hold one lock @R, which @U must hold as well.", false},
    [TMS_PATTERN_INCONSISTENT_READS] =
        {"it read @X and @Y from different states", "it can read @X and @Y from different states",
         "@T read @x before and @y after @U changed both: these values never existed together.",
         "@T reads @x before and @y after @U changes both: these values never exist together.",
         "changed since the first read",
         "make both reads in one critical section, @R, and @U's changes in another one.", false},
    [TMS_PATTERN_CHANGED_BETWEEN_READS] =
        {"@X changed between two reads", "@X can change between two reads",
         "@U changed @x between @T's two reads; what @T concluded from the first may be wrong.",
         "@U changes @x between @T's two reads; what @T concludes from the first may be wrong.",
         "no longer the value read before",
         "read @x once and keep the value, or make both accesses in one critical section, @R.",
         false},
    [TMS_PATTERN_STALE_DECISION] =
        {"it wrote @Y after @X had changed", "it can write @Y after @X has changed",
         "@U changed @x after @T had read it; @T then wrote @y, perhaps because of the old value.",
         "@U changes @x after @T has read it; @T then writes @y, perhaps because of the old value.",
         "the value read before is outdated", "read @x and write @y in one critical section, @R.",
         false},
    [TMS_PATTERN_FOREIGN_VALUE_READ_BACK] =
        {"it read back another thread's value of @X", "it can read back another thread's @X",
         "@T wrote @x and used it again, but by then @U had written another value.",
         "@T writes @x and uses it again, but by then @U has written another value.",
         "@U's value, not its own",
         "keep the value in a local variable, or make both accesses in one critical section, @R.",
         false},
    [TMS_PATTERN_INTERLEAVED_WRITES] =
        {"its writes of @X and @Y were mixed with others",
         "its writes of @X and @Y can be mixed with others",
         "@U wrote @x and @y between @T's two writes: @x now has @U's value and @y has @T's.",
         "@U writes @x and @y between @T's two writes: @x then has @U's value and @y has @T's.",
         "@x is @U's, @y is not",
         "make both writes in one critical section, @R, and @U's in another one.", false},
    [TMS_PATTERN_INTERMEDIATE_VALUE_SEEN] =
        {"another thread saw an intermediate value of @X",
         "another thread can see an intermediate value of @X",
         "@U read @x between @T's two changes of it: a value that was not final.",
         "@U reads @x between @T's two changes of it: a value that is not final.",
         "@U saw the value before this", "make both changes in one critical section, @R.", false},
    [TMS_PATTERN_HALF_UPDATE_SEEN] = {"another thread saw half of its update of @X and @Y",
                                      "another thread can see half of its update of @X and @Y",
                                      "@U used the new @x but the old @y.",
                                      "@U uses the new @x but the old @y.", "@U saw @y before this",
                                      "make both changes in one critical section, @R.", false},
    [TMS_PATTERN_EXCHANGE] =
        {"another thread answered its write of @X through @Y",
         "another thread can answer its write of @X through @Y",
         "@U used @x after @T had written it, then changed @y, which @T read.",
         "@U uses @x after @T has written it, then changes @y, which @T reads.", "@U's answer",
         OR_NOTHING, true},
    [TMS_PATTERN_INTERLEAVED_UPDATES] =
        {"another thread updated @X between its updates",
         "another thread can update @X between its updates",
         "@U updated @x between two updates of @T; each was complete and used the newest value.",
         "@U updates @x between two updates of @T; each is complete and uses the newest value.",
         "starts from @U's value", OR_NOTHING, true},
    [TMS_PATTERN_OVERWRITTEN] =
        {"another thread's value of @X was overwritten",
         "another thread's value of @X can be overwritten",
         "@U wrote @x between @T's two writes, and @T overwrote that without reading it.",
         "@U writes @x between @T's two writes, and @T overwrites that without reading it.",
         "overwrites @U's value", OR_NOTHING, true},
    [TMS_PATTERN_RECHECKED] =
        {"@X was checked again under a lock", "@X can change before it is checked under a lock",
         "@T read @x without a lock, and again under one: double-checked locking.",
         "@T reads @x without a lock, and again under one: double-checked locking.",
         "checked again", "not needed if only the second check decides; otherwise " IN_ONE_SECTION,
         true},
    [TMS_PATTERN_POLLED] =
        {"@X was polled", "@X can be polled", "@T read @x again and again on one line.",
         "@T reads @x again and again on one line.", "polled again",
         "not needed if it waits for @x to change; otherwise read @x once and keep the value.",
         true},
    [TMS_PATTERN_ORDER_ONLY] =
        {"no data was affected, only the order of locks",
         "no data is affected, only the order of locks",
         "@U took the lock in between, but did nothing with the data that @T used.",
         "@U takes the lock in between, but does nothing with the data that @T uses.", "after @U",
         "not needed: no recorded access was affected.", true},
    [TMS_PATTERN_OWN_THREAD] = {"it started or joined the thread that came in between",
                                "it starts or joins the thread that comes in between",
                                "The block itself started @U, or waited for its end.",
                                "the block itself starts @U, or waits for its end.", "after @U",
                                "not needed if it is meant to wait for that thread; otherwise "
                                "start or join it outside the block.",
                                true},
    [TMS_PATTERN_UNWATCHED] =
        {"what was done with the data was not recorded",
         "what is done with the data was not recorded",
         "@U came in between. No accesses to memory were recorded, so it is not known "
         "whether data was affected.",
         "@U comes in between. No accesses to memory were recorded, so it is not known "
         "whether data is affected.",
         "after @U", "build the program with tmesis cc, so that its memory accesses are watched.",
         true},
};

_Static_assert(sizeof(words) / sizeof(words[0]) == TMS_PATTERN_COUNT, "a pattern has no words");

const struct tms_pattern_words *tms_pattern_words(enum tms_pattern pattern)
{
    assert(pattern < TMS_PATTERN_COUNT);
    return &words[pattern];
}
