/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A consistent snapshot of the spool of a running process. The process keeps writing meanwhile:
 * events are appended to one chunk per thread, records to one chunk, and `used` is stored last, so
 * data below an earlier `used` no longer changes, except for counts. Only the `used` of all chunks
 * must be of one moment: otherwise the events of one thread could lack those of another that they
 * depend on. They are read until two consecutive readings agree, which takes microseconds, because
 * few chunks are not full yet.
 */
#ifndef TMS_SPOOL_SPOOL_SNAPSHOT_H
#define TMS_SPOOL_SPOOL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns a copy of the used part of the file in memory that the caller unmaps, and sets *size.
 * NULL, with errno, if out of memory. Of the header page only `end` is used.
 */
unsigned char *tms_snapshot(int fd, uint64_t file_size, size_t *size);

#endif
