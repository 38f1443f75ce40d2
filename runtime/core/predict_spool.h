/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions and requests for locks on their way into the spool: one record for each pattern. */
#ifndef TMS_RUNTIME_PREDICT_SPOOL_H
#define TMS_RUNTIME_PREDICT_SPOOL_H

#include "predict/lock_requests.h"

/* Of tms_predict_port and tms_requests_port. */
void tms_rt_spool_prediction(void *user, const struct tms_prediction *prediction);
void tms_rt_spool_request(void *user, const struct tms_request *request,
                          const struct tms_predict_hold *held, size_t held_count,
                          const struct tms_vector *must, uint64_t hash);
/* In the child of a fork. */
void tms_rt_predict_patterns_restart(void);

#endif
