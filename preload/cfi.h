/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information (.eh_frame) of one code address: how to find the caller's frame from
 * there. Only the rules for the stack pointer, the frame pointer and the return address are kept.
 */
#ifndef TMS_PRELOAD_CFI_H
#define TMS_PRELOAD_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Registers by their numbers in DWARF. */
#define TMS_RT_RBP 6
#define TMS_RT_RSP 7
#define TMS_RT_RIP 16

/* Where the caller's value of a register is saved. */
enum tms_rt_saved {
    TMS_RT_SAME,
    TMS_RT_AT_CFA, /* in memory, at an offset from the CFA */
    TMS_RT_AT_BP,  /* … from the frame pointer */
    TMS_RT_UNDEFINED,
    TMS_RT_OTHER, /* a rule that is not supported */
};

/* The CFA (canonical frame address) is the caller's stack pointer before the call. */
struct tms_rt_row {
    int64_t cfa_offset, bp_offset, ip_offset;
    uint8_t cfa_register; /* TMS_RT_RSP or TMS_RT_RBP; others count as bad */
    bool cfa_in_memory;   /* the CFA is stored at that address */
    uint8_t bp, ip;       /* enum tms_rt_saved */
    bool bad;             /* contains a rule that is not supported */
};

/*
 * The row for the instruction at pc in the object with this .eh_frame_hdr, and the start of its
 * function. False: there is none, or it is a signal frame.
 */
bool tms_rt_find_row(const uint8_t *index, uintptr_t pc, struct tms_rt_row *row,
                     uintptr_t *function);

#endif
