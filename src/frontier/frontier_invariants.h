/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of the frontier engine's structures, for assertions: `assert(tms_log_holds(…))`. Each
 * walks its whole structure, so release builds (NDEBUG) do without them. All may be called in the
 * runtime as well, under the engine's lock, while other threads write to their logs.
 */
#ifndef TMS_FRONTIER_FRONTIER_INVARIANTS_H
#define TMS_FRONTIER_FRONTIER_INVARIANTS_H

#include "frontier/frontier.h"

#ifndef NDEBUG

/* All mandatory members are set, and wake and wake_source are set together. */
bool tms_frontier_port_holds(const struct tms_frontier_port *port);

/*
 * The rows of the thread's running transaction. Each entry is finite, no earlier than the lower
 * bound of its column, and has an edge that ends in the column's thread and starts where the row
 * has an entry again; only the thread's own, the begin of the transaction, has none.
 */
bool tms_frontier_rows_hold(const struct tms_frontier *f, const struct tms_frontier_thread *t);

/* The innermost block inside the transaction: its begin is the latest, its row begins there. */
bool tms_frontier_innermost_holds(const struct tms_frontier *f,
                                  const struct tms_frontier_thread *t);

/* A chain of readers has existing threads and no gaps. */
bool tms_reader_nodes_hold(const struct tms_frontier *f, uint32_t first);

/* The thread's own log, or one without a writer. */
bool tms_log_holds(const struct tms_frontier_log *log);

/* Each step starts in the transaction in which the one before it ends, all around. */
bool tms_cycle_holds(const struct tms_step *steps, size_t count);

/* No slot is twice in the free list. */
bool tms_frontier_retired_hold(const struct tms_frontier *f);

#endif
#endif
