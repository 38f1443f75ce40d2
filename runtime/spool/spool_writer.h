/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the spool (spool_writer.c, protocol/spool_format.h). */
#ifndef TMS_RUNTIME_SPOOL_WRITER_H
#define TMS_RUNTIME_SPOOL_WRITER_H

#include "runtime/core/thread.h"

/*
 * Creates the spool of this process; in the child of a fork it replaces the parent's. False, with
 * errno set, if there is no room for it.
 */
bool tms_rt_spool_open(const char *pattern, uint64_t max_size);
/* NULL: there is none, or it belongs to another process. */
struct tms_spool_header *tms_rt_spool_header(void);
/*
 * Is there no room for more events? Records are still written, unless the disk is full as well:
 * --max-size limits events only.
 */
bool tms_rt_spool_is_out_of_room(void);
/* The thread has ended: offers the rest of its chunk to others. */
void tms_rt_spool_thread_ends(struct tms_rt_thread *thread);
/* Nanoseconds of the monotonic clock. */
uint64_t tms_rt_monotonic_time(void);
void tms_rt_spool_event(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* Records a transaction that has just ended without an event. */
void tms_rt_spool_empty_transaction(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/* Records an event, but not the deferred begins of the blocks around it. */
void tms_rt_spool_without_blocks(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* Records an event as it is. */
void tms_rt_spool_write(struct tms_rt_thread *thread, const struct tms_spool_event *event);
/* Records that memory is new; `kind`: alloc or free. */
void tms_rt_spool_renewal(struct tms_rt_thread *thread, uint8_t kind, uintptr_t address,
                          size_t size, uint32_t site);
/* Space for a record of this size, with its header filled in; NULL: there is none. */
void *tms_rt_spool_record(enum tms_spool_type type, size_t bytes);

/* How many records this process has written so far. */
uint32_t tms_rt_spool_record_count(void);

#endif
