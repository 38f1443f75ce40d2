/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: what the kernel passes from one thread of the process to another. Data that a thread
 * wrote before it wrote to a pipe does not race with the thread that reads the pipe. That is
 * order, but no conflict: the engine hears nothing of it, and only races and predictions go by it
 * (thread_clocks.h, the wider order).
 *
 * A channel holds the sum of all releases into it. Like ThreadSanitizer's, it does not match
 * messages: who receives comes after everything that was sent so far.
 *
 *     a pipe or FIFO                    a channel each, by its inode: both ends have the same
 *     the two ends of a socketpair      a channel each pair
 *     all other sockets                 one channel, with connect and accept
 *     an eventfd, an epoll instance     a channel each, by descriptor: they share one inode
 *     a signal                          a channel each number; one more for all (signalfd)
 *     child processes                   one channel, from fork to wait
 *
 * Beyond CHANNELS_MOST of them further ones share one, so threads are ordered that are not, and
 * races are missed; none is invented.
 */
#ifndef TMS_RUNTIME_KERNEL_CHANNELS_H
#define TMS_RUNTIME_KERNEL_CHANNELS_H

#include "runtime/core/thread.h"

/* Before the thread writes to a descriptor, connects it or closes it. */
void tms_rt_file_sends(struct tms_rt_thread *thread, int file);
/* After it has read from one, or accepted; false if what came is not of another thread. */
bool tms_rt_file_receives(struct tms_rt_thread *thread, int file);
/* Before the thread asks epoll instance `poll` for what happens to the file. */
void tms_rt_file_watched(struct tms_rt_thread *thread, int poll, int file);
/* A socketpair was made. */
void tms_rt_files_paired(int one, int two);
/* The descriptor refers to what `file` refers to; it is a new one of its own, or a signalfd. */
void tms_rt_file_copied(int copy, int file);
void tms_rt_file_opened(int file);
void tms_rt_file_takes_signals(int file);

/* Before the thread sends a signal or says how it is handled; after it has got one. */
void tms_rt_signal_sends(struct tms_rt_thread *thread, int number);
void tms_rt_signal_receives(struct tms_rt_thread *thread, int number);
/* The same from a handler that has interrupted the runtime: it counts when it is asked for. */
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

/* In the child of a fork: nothing was sent. */
void tms_rt_channels_restart(void);

#endif
