/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What .eh_frame says of one place in the code: how the frame of the caller is found from there.
 * Only what concerns the stack pointer, the frame pointer and the return address is kept.
 */
#ifndef TMS_PRELOAD_CFI_H
#define TMS_PRELOAD_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Registers by their numbers in DWARF. */
#define TMS_RT_RBP 6
#define TMS_RT_RSP 7
#define TMS_RT_RIP 16

/* Where the value of a register in the caller is. */
enum tms_rt_saved {
    TMS_RT_SAME,
    TMS_RT_AT_CFA, /* in memory, so far from the caller's frame */
    TMS_RT_AT_BP,  /* … from the frame pointer */
    TMS_RT_UNDEFINED,
    TMS_RT_OTHER, /* not followed */
};

/* The CFA, the caller's frame, is its stack pointer before the call. */
struct tms_rt_row {
    int64_t cfa_offset, bp_offset, ip_offset;
    uint8_t cfa_register; /* TMS_RT_RSP or TMS_RT_RBP; others count as bad */
    bool cfa_in_memory;   /* it is not that address, but what is there */
    uint8_t bp, ip;       /* enum tms_rt_saved */
    bool bad;             /* something that is not followed */
};

/*
 * The row for the instruction at pc, in the object that has this .eh_frame_hdr, and where its
 * function begins. False: there is none, or the frame is that of a signal.
 */
bool tms_rt_find_row(const uint8_t *index, uintptr_t pc, struct tms_rt_row *row,
                     uintptr_t *function);

#endif
