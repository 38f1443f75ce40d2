/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data races for the report, the first of each pair of locations. A race is two conflicting
 * accesses, not both atomic, that no synchronisation orders.
 */
#ifndef TMS_RUNTIME_RACES_H
#define TMS_RUNTIME_RACES_H

#include <stdbool.h>
#include <stdint.h>

struct tms_rt_race_access {
    uint64_t event;
    uint32_t thread; /* its index */
    uint32_t site;   /* 0: no longer known */
    uint8_t kind;    /* enum tms_event_kind */
    bool atomic;
};

struct tms_rt_race {
    uintptr_t address;
    uint8_t bytes; /* of the 8 aligned ones around it */
    struct tms_rt_race_access first, second;
};

/* Records a race. The caller holds the engine's lock. */
void tms_rt_race(const struct tms_rt_race *race);
void tms_rt_races_restart(void);

#endif
