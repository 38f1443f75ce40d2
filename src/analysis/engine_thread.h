/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second thread for some of the engines of an analysis (tms_settings.parallel).
 *
 * The feeding thread copies lowered operations into buffers, some thousands each, and the engines
 * on the other thread take them in the same order. Meanwhile they use nothing that the feeding
 * thread changes (tms_engine.concurrent, findings.h); their results are read after the thread has
 * ended. A trace that does not fill the first buffer gets no thread.
 *
 * All functions are called by the feeding thread.
 */
#ifndef TMS_ANALYSIS_ENGINE_THREAD_H
#define TMS_ANALYSIS_ENGINE_THREAD_H

#include "base/memory.h"
#include "trace/op.h"

struct tms_engine_thread;

/* After the last operation, TMS_OPS_AHEAD more can be read, with any content. */
typedef void tms_take_ops(void *user, const struct tms_op *ops, size_t count);

/* NULL if out of memory. `take` is called by one thread at a time. */
struct tms_engine_thread *tms_engine_thread_new(struct tms_memory *memory, tms_take_ops *take,
                                                void *user);

/* May be called without tms_engine_thread_finish: drops unprocessed operations. Accepts NULL. */
void tms_engine_thread_free(struct tms_engine_thread *thread, struct tms_memory *memory);

/* Copies the operations; waits if all buffers are full. */
void tms_engine_thread_put(struct tms_engine_thread *thread, const struct tms_op *ops,
                           size_t count);

/*
 * Waits until all operations have been processed and the thread has ended. Nothing may be put
 * afterwards.
 */
void tms_engine_thread_finish(struct tms_engine_thread *thread);

#endif
