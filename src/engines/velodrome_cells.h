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

struct reader {
    struct step step;
    uint32_t thread;
    uint32_t next; /* the next of the cell, or the next free one; 0: the last */
};

struct cell {
    struct step write;
    uint32_t readers; /* 0: none */
};

/* All of one class, by id. */
struct cells {
    struct cell *cell;
    size_t capacity;
};

/* The readers of all cells; [0] is unused. */
struct readers {
    struct reader *reader;
    size_t capacity;
    uint32_t count, free;
};

/* NULL when memory is short. */
struct cell *tms_velodrome_cell(struct tms_memory *memory, struct cells *cells, uint32_t id);

/* This is the last write, and there is no read since. */
void tms_velodrome_write(struct readers *readers, struct cell *cell, struct step step);

/* This is the last read of the thread. False when memory is short. */
bool tms_velodrome_read(const struct graph *graph, struct readers *readers, struct cell *cell,
                        uint32_t thread, struct step step);

#endif
