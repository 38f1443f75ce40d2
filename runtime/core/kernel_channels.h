/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: the order that the kernel passes from one thread of the process to another. Data that a
 * thread wrote before it wrote to a pipe does not race with the thread that reads the pipe. That is
 * order, but not a conflict: only races and predictions use it, the engine does not
 * (thread_clocks.h, the wider order).
 *
 * A channel holds the sum of all releases into it. As in ThreadSanitizer, messages are not matched:
 * a receive is ordered after everything that was sent so far.
 *
 *     a pipe or FIFO                    one channel each, by inode, which both ends share
 *     the two ends of a socketpair      one channel per pair
 *     all other sockets                 one channel, with connect and accept
 *     an eventfd, an epoll instance     one channel each, by descriptor: they share one inode
 *     a signal                          one channel per number, and one for all (signalfd)
 *     child processes                   one channel, from fork to wait
 *
 * Beyond CHANNELS_MOST, all further ones share a channel. That orders threads that are not ordered
 * in fact, so races may be missed, but none is invented.
 */
#ifndef TMS_RUNTIME_KERNEL_CHANNELS_H
#define TMS_RUNTIME_KERNEL_CHANNELS_H

#include "runtime/core/thread.h"

/* Before the thread writes to a descriptor, connects it or closes it. */
void tms_rt_file_sends(struct tms_rt_thread *thread, int file);
/* After it has read from one, or accepted; false if the data can't come from another thread. */
bool tms_rt_file_receives(struct tms_rt_thread *thread, int file);
/* Before the thread registers the file with epoll instance `poll`. */
void tms_rt_file_watched(struct tms_rt_thread *thread, int poll, int file);
/* A socketpair was made. */
void tms_rt_files_paired(int one, int two);
/* `copy` now refers to the same file as `file`; to a new file of its own; or to a signalfd. */
void tms_rt_file_copied(int copy, int file);
void tms_rt_file_opened(int file);
void tms_rt_file_takes_signals(int file);

/* Before the thread sends a signal or sets its handler; after it has received one. */
void tms_rt_signal_sends(struct tms_rt_thread *thread, int number);
void tms_rt_signal_receives(struct tms_rt_thread *thread, int number);
/* The same from a handler that has interrupted the runtime: deferred until the thread needs it. */
void tms_rt_signal_interrupts(struct tms_rt_thread *thread, int number);
void tms_rt_receive_signals(struct tms_rt_thread *thread);
static inline void tms_rt_take_signals(struct tms_rt_thread *thread)
{
    if (__builtin_expect(atomic_load_explicit(&thread->signalled, memory_order_relaxed) != 0, 0)) {
        tms_rt_receive_signals(thread);
    }
}

/* Before a fork, and after a wait for a child. */
void tms_rt_child_starts(struct tms_rt_thread *thread);
void tms_rt_child_ended(struct tms_rt_thread *thread);

/* In the child of a fork: empties all channels. */
void tms_rt_channels_restart(void);

#endif
