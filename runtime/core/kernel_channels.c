/* SPDX-License-Identifier: Apache-2.0 */
/* Order that passes through the kernel; see kernel_channels.h. */
#include "runtime/core/kernel_channels.h"

#include <assert.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/hash_mix.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread_registry.h"
#include "runtime/spool/spool_writer.h"

#define CHANNELS      4096u /* a power of two */
#define CHANNELS_MOST (CHANNELS / 4 * 3)
#define FILES         65536u /* copies of higher descriptors are not recognised */

struct channel {
    _Atomic uint64_t key;    /* 0: free. Written last, and only once */
    _Atomic uint32_t twin;   /* another channel that this one is an alias of; 0: none */
    _Atomic uint32_t poller; /* the epoll instance that watches it; 0: none */
    uint32_t id;             /* its id in recordings, from 1 on */
    struct tms_rt_mutex lock;
    struct tms_rt_snapshot *sent; /* under the lock */
    uint64_t number;              /* of the last release; likewise */
};

static struct {
    struct tms_rt_mutex lock; /* for adding channels */
    uint32_t count;
    struct channel channel[CHANNELS]; /* open addressing; the first is unused */
} channels;

/* ---- keys --------------------------------------------------------------------------------- */

enum kind { PIPE = 1, PAIR, SOCKETS, DESCRIPTOR, SIGNAL, SIGNALS, CHILDREN, OTHERS };

#define KEY_KIND 56

static uint64_t key_of(enum kind kind, uint64_t which)
{
    assert(kind >= PIPE && kind <= OTHERS);
    return (uint64_t)kind << KEY_KIND | (which & ((UINT64_C(1) << KEY_KIND) - 1));
}

static uint64_t key_of_inode(enum kind kind, const struct stat *info)
{
    return key_of(kind, info->st_ino ^ (uint64_t)info->st_dev << 40);
}

/*
 * For a descriptor without an inode of its own: the descriptor that it copies, plus one; 0: none.
 */
static _Atomic uint32_t copies[FILES];
#define TAKES_SIGNALS UINT32_MAX

static uint64_t key_of_descriptor(int file)
{
    uint32_t copy =
        (uint32_t)file < FILES ? atomic_load_explicit(&copies[file], memory_order_relaxed) : 0;

    return copy == TAKES_SIGNALS ? key_of(SIGNALS, 0)
                                 : key_of(DESCRIPTOR, copy != 0 ? copy - 1 : (uint32_t)file);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* The channel with this key, or a free one for it. */
static struct channel *find(uint64_t key)
{
    uint32_t at = (uint32_t)tms_hash(key);

    for (;; at++) {
        struct channel *channel = &channels.channel[at & (CHANNELS - 1)];
        uint64_t found = atomic_load_explicit(&channel->key, memory_order_acquire);
        if ((found == 0 || found == key) && channel != channels.channel) {
            return channel;
        }
    }
}

static bool is_known(const struct channel *channel)
{
    return atomic_load_explicit(&channel->key, memory_order_acquire) != 0;
}

static uint32_t number_of(const struct channel *channel)
{
    assert(channel > channels.channel && channel < channels.channel + CHANNELS);
    return (uint32_t)(channel - channels.channel);
}

/* The caller holds the lock. */
static struct channel *add(uint64_t key, uint32_t twin)
{
    struct channel *channel = find(key);

    assert(tms_rt_mutex_is_mine(&channels.lock) && twin < CHANNELS);
    if (!is_known(channel)) {
        assert(channels.count < CHANNELS - 2);
        channel->id = ++channels.count;
        atomic_store_explicit(&channel->twin, twin, memory_order_relaxed);
        atomic_store_explicit(&channel->key, key, memory_order_release);
    }
    return channel;
}

static struct channel *find_or_add(uint64_t key)
{
    struct channel *channel = find(key);

    if (__builtin_expect(is_known(channel), 1)) {
        return channel;
    }
    tms_rt_mutex_lock(&channels.lock);
    channel = add(channels.count < CHANNELS_MOST ? key : key_of(OTHERS, 0), 0);
    tms_rt_mutex_unlock(&channels.lock);
    return channel;
}

/* A socket that is not part of a pair has no channel of its own. */
static struct channel *channel_of_socket(const struct stat *info)
{
    struct channel *channel = find(key_of_inode(PAIR, info));

    if (!is_known(channel)) {
        return find_or_add(key_of(SOCKETS, 0));
    }
    uint32_t twin = atomic_load_explicit(&channel->twin, memory_order_relaxed);
    assert(twin < CHANNELS);
    return twin == 0 ? channel : &channels.channel[twin];
}

/* Does the channel represent many descriptors? */
static bool is_common(const struct channel *channel)
{
    uint64_t key = atomic_load_explicit(&channel->key, memory_order_relaxed);

    return key == key_of(SOCKETS, 0) || key == key_of(OTHERS, 0) || key == key_of(SIGNALS, 0);
}

static bool get_info(int file, struct stat *info)
{
    return tms_rt_raw(SYS_fstat, file, (long)info, 0, 0, 0, 0) == 0;
}

/* An eventfd has no file type, and neither have timers and other anonymous inodes. */
static bool leads_to_others(const struct stat *info)
{
    return S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode) || (info->st_mode & S_IFMT) == 0;
}

static struct channel *channel_of(int file, const struct stat *info)
{
    return S_ISFIFO(info->st_mode)   ? find_or_add(key_of_inode(PIPE, info))
           : S_ISSOCK(info->st_mode) ? channel_of_socket(info)
                                     : find_or_add(key_of_descriptor(file));
}

/* ---- sending and receiving ---------------------------------------------------------------- */

/* A process with a single thread needs no order: fork orders it before later threads. */
static bool is_followed(void)
{
    return tms_rt_mode.checks && !tms_rt_is_alone();
}

/* The number of a thread without an event may still be that of its fork. */
static void number_first(struct tms_rt_thread *t)
{
    if (t->engine == NULL) {
        tms_rt_advance_clock(t);
    }
}

/* For races and predictions on a recording. */
static void spool(struct tms_rt_thread *t, const struct channel *channel, uint8_t kind)
{
    if (!tms_rt_mode.records) {
        return;
    }
    struct tms_spool_event event = {.number = t->number, .target = channel->id, .kind = kind};
    tms_rt_spool_without_blocks(t, &event);
}

static void hand_over(struct tms_rt_thread *t, struct channel *channel)
{
    assert(is_known(channel) && t->inside == 1);
    tms_rt_take_signals(t); /* before the lock is taken: they may have come through this channel */
    number_first(t);
    tms_rt_mutex_lock(&channel->lock);
    tms_rt_clock_hand_over(t, &channel->sent);
    channel->number = channel->number < t->number ? t->number : channel->number;
    tms_rt_mutex_unlock(&channel->lock);
    spool(t, channel, TMS_EVENT_SEND);
}

static void receive_order(struct tms_rt_thread *t, struct channel *channel)
{
    assert(is_known(channel) && channel->id > 0);
    tms_rt_mutex_lock(&channel->lock);
    bool learnt = tms_rt_clock_take_over(t, channel->sent, channel->number);
    tms_rt_mutex_unlock(&channel->lock);
    if (learnt) {
        number_first(t);
        spool(t, channel, TMS_EVENT_RECEIVE);
    }
}

static void send_to(struct tms_rt_thread *t, uint64_t key)
{
    if (is_followed()) {
        hand_over(t, find_or_add(key));
    }
}

static void receive_from(struct tms_rt_thread *t, uint64_t key)
{
    if (is_followed()) {
        receive_order(t, find_or_add(key));
    }
}

/* ---- descriptors -------------------------------------------------------------------------- */

/* Also releases to the poller: a thread that waits for events need not read what woke it. */
void tms_rt_file_sends(struct tms_rt_thread *t, int file)
{
    struct stat info;

    if (!is_followed() || !get_info(file, &info) || !leads_to_others(&info)) {
        return;
    }
    struct channel *channel = channel_of(file, &info);
    uint32_t poller = atomic_load_explicit(&channel->poller, memory_order_relaxed);
    hand_over(t, channel);
    if (poller != 0) {
        hand_over(t, &channels.channel[poller]);
    }
}

bool tms_rt_file_receives(struct tms_rt_thread *t, int file)
{
    struct stat info;

    if (!get_info(file, &info) || !leads_to_others(&info)) {
        return false;
    }
    if (is_followed()) {
        receive_order(t, channel_of(file, &info));
    }
    return true;
}

void tms_rt_file_watched(struct tms_rt_thread *t, int poll, int file)
{
    struct stat info;

    if (!tms_rt_mode.checks) {
        return;
    }
    struct channel *poller = find_or_add(key_of_descriptor(poll));
    if (get_info(file, &info) && leads_to_others(&info)) {
        struct channel *watched = channel_of(file, &info);
        if (!is_common(watched)) {
            atomic_store_explicit(&watched->poller, number_of(poller), memory_order_relaxed);
        }
    }
    if (is_followed()) {
        hand_over(t, poller);
    }
}

void tms_rt_files_paired(int one, int two)
{
    struct stat first, second;

    if (!tms_rt_mode.checks || !get_info(one, &first) || !get_info(two, &second)) {
        return;
    }
    tms_rt_mutex_lock(&channels.lock);
    if (channels.count + 1 < CHANNELS_MOST) {
        const struct channel *channel = add(key_of_inode(PAIR, &first), 0);
        add(key_of_inode(PAIR, &second), number_of(channel));
    }
    tms_rt_mutex_unlock(&channels.lock);
}

static void set_copy(int file, uint32_t copy)
{
    if ((uint32_t)file < FILES) {
        atomic_store_explicit(&copies[file], copy, memory_order_relaxed);
    }
}

void tms_rt_file_copied(int copy, int file)
{
    uint32_t known = (uint32_t)file < FILES ? atomic_load(&copies[file]) : 0;

    set_copy(copy, known != 0 ? known : (uint32_t)file + 1);
}

void tms_rt_file_opened(int file)
{
    set_copy(file, 0);
}

void tms_rt_file_takes_signals(int file)
{
    set_copy(file, TAKES_SIGNALS);
}

/* ---- signals and children ----------------------------------------------------------------- */

void tms_rt_signal_sends(struct tms_rt_thread *t, int number)
{
    send_to(t, key_of(SIGNAL, (uint64_t)number));
    send_to(t, key_of(SIGNALS, 0));
}

void tms_rt_signal_receives(struct tms_rt_thread *t, int number)
{
    receive_from(t, key_of(SIGNAL, (uint64_t)number));
}

void tms_rt_signal_interrupts(struct tms_rt_thread *t, int number)
{
    assert(number > 0 && number <= 64);
    atomic_fetch_or_explicit(&t->signalled, UINT64_C(1) << (number - 1), memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    t->seen_more = true;
}

void tms_rt_receive_signals(struct tms_rt_thread *t)
{
    uint64_t left = atomic_exchange_explicit(&t->signalled, 0, memory_order_relaxed);

    for (; left != 0; left &= left - 1) {
        tms_rt_signal_receives(t, __builtin_ctzll(left) + 1);
    }
}

void tms_rt_child_starts(struct tms_rt_thread *t)
{
    send_to(t, key_of(CHILDREN, 0));
}

void tms_rt_child_ended(struct tms_rt_thread *t)
{
    receive_from(t, key_of(CHILDREN, 0));
}

/* ---- fork --------------------------------------------------------------------------------- */

/* Descriptors, and pairs of them, are inherited. */
void tms_rt_channels_restart(void)
{
    tms_rt_mutex_restart(&channels.lock);
    for (uint32_t i = 0; i < CHANNELS && channels.count > 0; i++) {
        channels.channel[i].sent = NULL;
        tms_rt_mutex_restart(&channels.channel[i].lock);
    }
}
