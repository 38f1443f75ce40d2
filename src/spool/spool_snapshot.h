/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool of a process that is running, as it was at one moment. The process goes on writing
 * meanwhile: events are appended to a chunk per thread, records to one chunk, and `used` is stored
 * last, so below the `used` of a moment nothing changes but counts. What is to be one moment are
 * the `used` of all chunks: otherwise the events of one thread could end before the ones that it
 * needs of another. They are read until two readings in a row agree, which takes microseconds,
 * because few chunks are not full yet.
 */
#ifndef TMS_SPOOL_SPOOL_SNAPSHOT_H
#define TMS_SPOOL_SPOOL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

/*
 * A copy of the first bytes of the file, up to what is in use, in memory to be unmapped; *size is
 * how many there are. NULL, with errno, if there is no memory for it. The header page is not
 * looked at but for `end`.
 */
unsigned char *tms_snapshot(int fd, uint64_t file_size, size_t *size);

#endif
