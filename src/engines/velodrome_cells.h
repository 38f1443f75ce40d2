/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the velodrome engine keeps of each variable, lock and barrier: the step of the last write,
 * and of the last read of each thread since. An exclusive operation on a lock is a write of it, a
 * shared one a read, an arrival at a barrier a read. 32 bytes each, and 32 for each reader; reads
 * whose nodes are gone are taken out by the next reader.
 */
#ifndef TMS_ENGINES_VELODROME_CELLS_H
#define TMS_ENGINES_VELODROME_CELLS_H

#include "engines/velodrome_graph.h"

struct tms_velodrome_reader {
    struct tms_velodrome_step step;
    uint32_t thread;
    uint32_t next; /* the next of the cell, or the next free one; 0: the last */
};

struct tms_velodrome_cell {
    struct tms_velodrome_step write;
    uint32_t readers; /* 0: none */
};

/* All of one class, by id. */
struct tms_velodrome_cells {
    struct tms_velodrome_cell *cell;
    size_t capacity;
};

/* The readers of all cells; [0] is unused. */
struct tms_velodrome_readers {
    struct tms_velodrome_reader *reader;
    size_t capacity;
    uint32_t count, free;
};

/* NULL when memory is short. */
struct tms_velodrome_cell *tms_velodrome_cell(struct tms_memory *memory,
                                              struct tms_velodrome_cells *cells, uint32_t id);

/* This is the last write, and there is no read since. */
void tms_velodrome_write(struct tms_velodrome_readers *readers, struct tms_velodrome_cell *cell,
                         struct tms_velodrome_step step);

/* This is the last read of the thread. False when memory is short. */
bool tms_velodrome_read(const struct tms_velodrome_graph *graph,
                        struct tms_velodrome_readers *readers, struct tms_velodrome_cell *cell,
                        uint32_t thread, struct tms_velodrome_step step);

#endif
