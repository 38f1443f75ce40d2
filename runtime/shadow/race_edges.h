/* SPDX-License-Identifier: Apache-2.0 */
/* Edges and races of an access that is not ordered after those of other threads. */
#ifndef TMS_RUNTIME_RACE_EDGES_H
#define TMS_RUNTIME_RACE_EDGES_H

#include "runtime/shadow/access.h"

/*
 * Passes the edges and races of an access to the engine. The cell is locked; `event` gets the
 * number of the access. True if there was a race. Takes the engine's lock.
 */
bool tms_rt_add_access_edges(struct tms_rt_thread *thread, const struct tms_rt_unpacked *cell,
                             const struct tms_rt_word_access *access, uint64_t *event);

#endif
