/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planted violation: a lost update, as a script for two threads.
 *
 * Thread 0 reads the balance, thread 1 deposits in between, thread 0 writes what it had computed
 * from the old balance. The balance (and, where the shape has a lock to spare, the lock around
 * every access) belongs to the script alone, so the two deposits have no edges other than those
 * of the script and of their threads' program order: before the closing event the first deposit
 * precedes the second, which fits the order of the rest; the closing event turns one edge back.
 * Any cycle needs that edge, so there is no other.
 *
 * The same holds when many follow each other, on the same balance. A script starts when the one
 * before is over, and whatever its threads do afterwards has a higher rank than all before it
 * (shared_state.h). So if its two deposits are taken to have one rank, between all before and all
 * after, every edge but those two rises in rank, and whatever leaves a transaction and comes back
 * to it stays within one script. There thread 0's deposit is not atomic; thread 1's is, since
 * nothing comes back to it after thread 0 went on.
 */
#ifndef TMS_GEN_PLANTED_BUG_H
#define TMS_GEN_PLANTED_BUG_H

#include <stddef.h>
#include <stdint.h>

struct tms_script_line {
    uint8_t actor; /* 0 or 1 */
    uint8_t kind;  /* enum tms_event_kind; its operand follows from it */
};

struct tms_script {
    const struct tms_script_line *lines;
    size_t length;
    size_t closing; /* index of the line that closes the cycle */
    uint64_t locks; /* locks that only the script uses */
};

/* The script for a shape with `locks` locks: with a lock if one is left for the rest. */
const struct tms_script *tms_script(uint64_t locks);

#endif
