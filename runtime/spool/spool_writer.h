/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the spool (spool_writer.c, protocol/spool_format.h). */
#ifndef TMS_RUNTIME_SPOOL_WRITER_H
#define TMS_RUNTIME_SPOOL_WRITER_H

#include "runtime/core/thread.h"

/*
 * Makes the spool of this process; in the child of a fork, in place of the parent's. False, with
 * errno set, if there is no room for it.
 */
bool tms_rt_spool_open(const char *pattern, uint64_t max_size);
/* NULL: there is none, or it is that of another process. */
struct tms_spool_header *tms_rt_spool_header(void);
/* There is no room for more events; records go on. */
bool tms_rt_spool_is_full(void);
/* The thread writes no more: what is left of its chunk is for others. */
void tms_rt_spool_thread_ends(struct tms_rt_thread *thread);
/* Nanoseconds of the monotonic clock. */
uint64_t tms_rt_monotonic_time(void);
void tms_rt_spool_event(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* A transaction, just over, in which there was none. */
void tms_rt_spool_empty_transaction(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/* An event that does not cause the blocks around it to be recorded. */
void tms_rt_spool_without_blocks(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* As it is. */
void tms_rt_spool_write(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* So many bytes are new: `kind` is alloc or free. */
void tms_rt_spool_renewal(struct tms_rt_thread *thread, uint8_t kind, uintptr_t address,
                          size_t size, uint32_t site);
/* Room for a record of so many bytes, with its header filled in; NULL: none. */
void *tms_rt_spool_record(enum tms_spool_type type, size_t bytes);

#endif
