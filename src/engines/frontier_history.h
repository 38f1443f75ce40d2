/* SPDX-License-Identifier: Apache-2.0 */
/* The history of transactions in a trace, for the library's side of frontier/frontier_port.h. */
#ifndef TMS_ENGINES_FRONTIER_HISTORY_H
#define TMS_ENGINES_FRONTIER_HISTORY_H

#include "frontier/frontier.h"

bool tms_frontier_history_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                                const struct tms_op *op);
void tms_frontier_history_end(struct tms_frontier_thread *t, uint64_t event);
struct tms_transaction tms_frontier_history_find(const struct tms_frontier_thread *t,
                                                 uint64_t event, uint32_t place);

#endif
