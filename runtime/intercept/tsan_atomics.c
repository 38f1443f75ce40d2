/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations, which the hooks carry out: a load is a read, a store a write, a
 * read-modify-write one update, and a compare-and-exchange that fails a read, marked as such.
 *
 * The recorded order of the operations on one address is the real one. A watched operation is
 * recorded and carried out while the thread holds the lock of the address. A modification is
 * recorded *before* it is carried out, and a load *after* it.
 *
 * That order lets a redundant load do without the lock, so that spinning stays cheap. It loads
 * first and then checks the shadow. If the value came from another thread's store, that store was
 * recorded before its value was visible, so the shadow does not take the load for a repeated one.
 * Conversely, if the shadow has a repeated read, no foreign store came between the recorded one and
 * this, and omitting it changes nothing. Otherwise the load is done again, under the lock, and
 * recorded; the first value is discarded. Modifications always need the lock: another thread's
 * operation could come between the check and the operation.
 *
 * Memory orders. On x86-64 the instructions for all orders are the same except for the store, and
 * the compiler moves nothing across a call. Orders move the clocks of happens-before
 * (thread_clocks.h). Fences are no events: they order, but conflict with nothing.
 */
#include <string.h>

#include "runtime/core/runtime_mutex.h"
#include "runtime/intercept/interpose.h"
#include "runtime/shadow/atomic_locks.h"
#include "runtime/shadow/shadow.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- the operations themselves ---------------------------------------------------------- */

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;
__extension__ typedef unsigned __int128 word128;

/*
 * Types of arguments: clang assumes that the caller extends a narrow argument, but its own calls of
 * the hooks don't. So the hooks take a whole register and truncate it.
 */
typedef uint32_t argument8, argument16, argument32;
typedef uint64_t argument64;
typedef word128 argument128;

/* X(operation, builtin, new value out of `old` and `value`) */
#define UPDATES(X)                                                                                 \
    X(exchange, __atomic_exchange_n, value)                                                        \
    X(fetch_add, __atomic_fetch_add, old + value)                                                  \
    X(fetch_sub, __atomic_fetch_sub, old - value)                                                  \
    X(fetch_and, __atomic_fetch_and, (old & value))                                                \
    X(fetch_or, __atomic_fetch_or, old | value)                                                    \
    X(fetch_xor, __atomic_fetch_xor, old ^ value)                                                  \
    X(fetch_nand, __atomic_fetch_nand, ~(old & value))

#define BASIC(bits)                                                                                \
    INLINE word##bits load##bits(const volatile word##bits *address)                               \
    {                                                                                              \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    INLINE void store##bits(volatile word##bits *address, word##bits value, int order)             \
    {                                                                                              \
        if (order == __ATOMIC_SEQ_CST) {                                                           \
            __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                    \
        } else {                                                                                   \
            __atomic_store_n(address, value, __ATOMIC_RELEASE);                                    \
        }                                                                                          \
    }                                                                                              \
    INLINE word##bits compare##bits(volatile word##bits *address, word##bits expected,             \
                                    word##bits value)                                              \
    {                                                                                              \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,            \
                                    __ATOMIC_SEQ_CST);                                             \
        return expected;                                                                           \
    }

BASIC(8)
BASIC(16)
BASIC(32)
BASIC(64)

/*
 * The builtins for 16 bytes call libatomic, which may not be there; these are cmpxchg16b. Like
 * libatomic's, the load needs writable memory.
 */
INLINE word128 compare128(volatile word128 *address, word128 expected, word128 value)
{
    return __sync_val_compare_and_swap(address, expected, value);
}

INLINE word128 load128(volatile word128 *address)
{
    return compare128(address, 0, 0);
}

#define UPDATE_BY_BUILTIN(bits, operation, builtin)                                                \
    INLINE word##bits operation##bits(volatile word##bits *address, word##bits value)              \
    {                                                                                              \
        return builtin(address, value, __ATOMIC_SEQ_CST);                                          \
    }
#define X(operation, builtin, changed)                                                             \
    UPDATE_BY_BUILTIN(8, operation, builtin)                                                       \
    UPDATE_BY_BUILTIN(16, operation, builtin)                                                      \
    UPDATE_BY_BUILTIN(32, operation, builtin)                                                      \
    UPDATE_BY_BUILTIN(64, operation, builtin)                                                      \
    INLINE word128 operation##128(volatile word128 * address, word128 value)                       \
    {                                                                                              \
        word128 old, seen = load128(address);                                                      \
        do {                                                                                       \
            old = seen;                                                                            \
            seen = compare128(address, old, changed);                                              \
        } while (seen != old);                                                                     \
        return old;                                                                                \
    }
UPDATES(X)
#undef X

INLINE void store128(volatile word128 *address, word128 value, int order)
{
    exchange128(address, value);
}

/* ---- recording them --------------------------------------------------------------------- */

/* A load that is redundant needs no clocks either. */
INLINE bool repeated_read(const volatile void *address, size_t size, int order)
{
    const struct tms_rt_thread *thread = tms_rt_self;
    return thread == NULL ||
           tms_rt_is_repeated_load(thread, (uintptr_t)address, size, order != __ATOMIC_RELAXED);
}

/* A scheduling point, before anything else is done. */
static inline void before(const volatile void *address, size_t size, enum tms_rt_access access,
                          uintptr_t pc)
{
    if (__builtin_expect(tms_rt_scheduled, 0)) {
        tms_rt_atomic_point((uintptr_t)address, size, access, pc);
    }
}

/* Returns the thread, with the lock of the address held; NULL if the operation is not recorded. */
static struct tms_rt_thread *begin(const volatile void *address)
{
    struct tms_rt_thread *thread = tms_rt_enter();
    if (thread != NULL) {
        tms_rt_atomic_lock((uintptr_t)address);
    }
    return thread;
}

static void end(struct tms_rt_thread *thread, const volatile void *address)
{
    if (thread != NULL) {
        tms_rt_atomic_unlock((uintptr_t)address);
        tms_rt_leave(thread);
    }
}

static void record(struct tms_rt_thread *thread, const volatile void *address, size_t size,
                   enum tms_rt_access access, int order, uintptr_t pc)
{
    if (thread != NULL) {
        tms_rt_access_atomic(thread, (uintptr_t)address, size, access, order, pc);
    }
}

/* Records a compare-and-swap: an update, or a read if it failed. */
static void record_swap(struct tms_rt_thread *thread, const volatile void *address, size_t size,
                        bool swaps, int order, uintptr_t pc)
{
    if (thread != NULL) {
        thread->mark = !swaps ? TMS_SPOOL_RETRY : 0;
        tms_rt_access_atomic(thread, (uintptr_t)address, size, swaps ? TMS_RT_UPDATE : TMS_RT_READ,
                             order, pc);
        thread->mark = 0;
    }
}

/* ---- the hooks -------------------------------------------------------------------------- */

#define LOAD_HOOK(bits)                                                                            \
    TMS_RT_EXPORT word##bits __tsan_atomic##bits##_load(volatile word##bits *address, int order);  \
    word##bits __tsan_atomic##bits##_load(volatile word##bits *address, int order)                 \
    {                                                                                              \
        before(address, sizeof(*address), TMS_RT_READ, TMS_RT_PC());                               \
        word##bits value = load##bits(address);                                                    \
        if (repeated_read(address, sizeof(value), order)) {                                        \
            return value;                                                                          \
        }                                                                                          \
        struct tms_rt_thread *thread = begin(address);                                             \
        value = load##bits(address);                                                               \
        record(thread, address, sizeof(value), TMS_RT_READ, order, TMS_RT_PC());                   \
        end(thread, address);                                                                      \
        return value;                                                                              \
    }

#define STORE_HOOK(bits)                                                                           \
    TMS_RT_EXPORT void __tsan_atomic##bits##_store(volatile word##bits *address,                   \
                                                   argument##bits argument, int order);            \
    void __tsan_atomic##bits##_store(volatile word##bits *address, argument##bits argument,        \
                                     int order)                                                    \
    {                                                                                              \
        word##bits value = (word##bits)argument;                                                   \
        before(address, sizeof(value), TMS_RT_WRITE, TMS_RT_PC());                                 \
        struct tms_rt_thread *thread = begin(address);                                             \
        record(thread, address, sizeof(value), TMS_RT_WRITE, order, TMS_RT_PC());                  \
        store##bits(address, value, order);                                                        \
        end(thread, address);                                                                      \
    }

#define UPDATE_HOOK(bits, operation)                                                               \
    TMS_RT_EXPORT word##bits __tsan_atomic##bits##_##operation(                                    \
        volatile word##bits *address, argument##bits argument, int order);                         \
    word##bits __tsan_atomic##bits##_##operation(volatile word##bits *address,                     \
                                                 argument##bits argument, int order)               \
    {                                                                                              \
        word##bits value = (word##bits)argument;                                                   \
        before(address, sizeof(value), TMS_RT_UPDATE, TMS_RT_PC());                                \
        struct tms_rt_thread *thread = begin(address);                                             \
        record(thread, address, sizeof(value), TMS_RT_UPDATE, order, TMS_RT_PC());                 \
        value = operation##bits(address, value);                                                   \
        end(thread, address);                                                                      \
        return value;                                                                              \
    }

/*
 * Under the lock the value decides what is recorded, before the operation. It can still fail if
 * something unwatched changed the memory meanwhile; the record of an update covers the read.
 * `*expected` is left alone on success, when it may belong to another thread already. The access to
 * it is not recorded: in sensible programs it is the caller's own.
 */
#define COMPARE_HOOKS(bits)                                                                        \
    INLINE word##bits exchange_if##bits(volatile word##bits *address, word##bits expected,         \
                                        word##bits value, int order, int fail_order, uintptr_t pc) \
    {                                                                                              \
        before(address, sizeof(value), TMS_RT_UPDATE, pc);                                         \
        word##bits old = load##bits(address);                                                      \
        if (old != expected && repeated_read(address, sizeof(value), fail_order)) {                \
            return old;                                                                            \
        }                                                                                          \
        struct tms_rt_thread *thread = begin(address);                                             \
        old = load##bits(address);                                                                 \
        record_swap(thread, address, sizeof(value), old == expected,                               \
                    old == expected ? order : fail_order, pc);                                     \
        if (old == expected) {                                                                     \
            old = compare##bits(address, expected, value);                                         \
        }                                                                                          \
        end(thread, address);                                                                      \
        return old;                                                                                \
    }                                                                                              \
    TMS_RT_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(                               \
        volatile word##bits *address, word##bits *expected, argument##bits value, int order,       \
        int fail_order);                                                                           \
    TMS_RT_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(                                 \
        volatile word##bits *address, word##bits *expected, argument##bits value, int order,       \
        int fail_order) __attribute__((alias("__tsan_atomic" #bits "_compare_exchange_strong")));  \
    TMS_RT_EXPORT word##bits __tsan_atomic##bits##_compare_exchange_val(                           \
        volatile word##bits *address, argument##bits expected, argument##bits value, int order,    \
        int fail_order);                                                                           \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile word##bits *address,                \
                                                      word##bits *expected, argument##bits value,  \
                                                      int order, int fail_order)                   \
    {                                                                                              \
        word##bits wanted = *expected;                                                             \
        word##bits old =                                                                           \
            exchange_if##bits(address, wanted, (word##bits)value, order, fail_order, TMS_RT_PC()); \
        if (old != wanted) {                                                                       \
            *expected = old;                                                                       \
        }                                                                                          \
        return old == wanted;                                                                      \
    }                                                                                              \
    word##bits __tsan_atomic##bits##_compare_exchange_val(                                         \
        volatile word##bits *address, argument##bits expected, argument##bits value, int order,    \
        int fail_order)                                                                            \
    {                                                                                              \
        return exchange_if##bits(address, (word##bits)expected, (word##bits)value, order,          \
                                 fail_order, TMS_RT_PC());                                         \
    }

#define X(operation, builtin, changed)                                                             \
    UPDATE_HOOK(8, operation)                                                                      \
    UPDATE_HOOK(16, operation)                                                                     \
    UPDATE_HOOK(32, operation)                                                                     \
    UPDATE_HOOK(64, operation)                                                                     \
    UPDATE_HOOK(128, operation)
UPDATES(X)
#undef X

#define HOOKS(bits)                                                                                \
    LOAD_HOOK(bits)                                                                                \
    STORE_HOOK(bits)                                                                               \
    COMPARE_HOOKS(bits)
HOOKS(8)
HOOKS(16)
HOOKS(32)
HOOKS(64)
HOOKS(128)

TMS_RT_EXPORT void __tsan_atomic_thread_fence(int order);
TMS_RT_EXPORT void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    if (order == __ATOMIC_SEQ_CST) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    struct tms_rt_thread *thread = tms_rt_enter();
    if (thread != NULL) {
        tms_rt_fence(thread, order);
        tms_rt_leave(thread);
    }
}

void __tsan_atomic_signal_fence(int order)
{
}

/* ---- libatomic -------------------------------------------------------------------------- */

/*
 * For 16 bytes clang calls libatomic unless it may use cmpxchg16b, and so do both compilers for
 * larger objects. The former are aliases of the functions above, under C names that the compiler
 * does not take for its builtins.
 */
#define SAME128(operation, libatomic, result, ...)                                                 \
    TMS_RT_INTERPOSE result libatomic_##operation(volatile word128 *, __VA_ARGS__) __asm__(        \
        libatomic) __attribute__((alias("__tsan_atomic128_" #operation)));
SAME128(load, "__atomic_load_16", word128, int)
SAME128(store, "__atomic_store_16", void, word128, int)
SAME128(compare_exchange_strong, "__atomic_compare_exchange_16", int, word128 *, word128, int, int)
#define X(operation, builtin, changed)                                                             \
    SAME128(operation, "__atomic_" #operation "_16", word128, word128, int)
UPDATES(X)
#undef X

/*
 * Objects of any size are left to libatomic. The linker finds its functions here and may leave it
 * out; then one lock suffices (tms_rt_wide_atomics), as libatomic has no other users. Only 16 bytes
 * may be accessed without that lock, above.
 */
static bool is_word128(size_t size, const void *address)
{
    return size == 16 && ((uintptr_t)address & 15) == 0;
}

static word128 get128(const void *from)
{
    word128 word;
    memcpy(&word, from, sizeof(word));
    return word;
}

static void put128(void *to, word128 word)
{
    memcpy(to, &word, sizeof(word));
}

static bool wide_compare(size_t size, void *address, void *expected, const void *value, int order,
                         int fail_order)
{
    bool same;
    if (is_word128(size, address)) {
        word128 wanted = get128(expected), old = compare128(address, wanted, get128(value));
        same = old == wanted;
        if (!same) {
            put128(expected, old);
        }
        return same;
    }
    tms_rt_mutex_lock(&tms_rt_wide_atomics);
    same = memcmp(address, expected, size) == 0;
    memcpy(same ? address : expected, same ? value : address, size);
    tms_rt_mutex_unlock(&tms_rt_wide_atomics);
    return same;
}

static void wide_load(size_t size, void *address, void *value, int order)
{
    if (is_word128(size, address)) {
        put128(value, load128(address));
        return;
    }
    tms_rt_mutex_lock(&tms_rt_wide_atomics);
    memcpy(value, address, size);
    tms_rt_mutex_unlock(&tms_rt_wide_atomics);
}

static void wide_exchange(size_t size, void *address, const void *value, void *old, int order)
{
    if (is_word128(size, address)) {
        put128(old, exchange128(address, get128(value)));
        return;
    }
    tms_rt_mutex_lock(&tms_rt_wide_atomics);
    memcpy(old, address, size);
    memcpy(address, value, size);
    tms_rt_mutex_unlock(&tms_rt_wide_atomics);
}

static void wide_store(size_t size, void *address, const void *value, int order)
{
    if (is_word128(size, address)) {
        exchange128(address, get128(value));
        return;
    }
    tms_rt_mutex_lock(&tms_rt_wide_atomics);
    memcpy(address, value, size);
    tms_rt_mutex_unlock(&tms_rt_wide_atomics);
}

#define WIDE(result, name, parameters, fallback)                                                   \
    TMS_RT_REAL_NEXT(result, name, parameters, NULL, (void *)(uintptr_t)fallback)                  \
    TMS_RT_INTERPOSE result libatomic##name parameters __asm__(#name);                             \
    result libatomic##name parameters

WIDE(void, __atomic_load, (size_t size, void *address, void *value, int order), wide_load)
{
    before(address, size, TMS_RT_READ, TMS_RT_PC());
    struct tms_rt_thread *thread = begin(address);
    real___atomic_load()(size, address, value, order);
    record(thread, address, size, TMS_RT_READ, order, TMS_RT_PC());
    end(thread, address);
}

WIDE(void, __atomic_store, (size_t size, void *address, const void *value, int order), wide_store)
{
    before(address, size, TMS_RT_WRITE, TMS_RT_PC());
    struct tms_rt_thread *thread = begin(address);
    record(thread, address, size, TMS_RT_WRITE, order, TMS_RT_PC());
    real___atomic_store()(size, address, value, order);
    end(thread, address);
}

WIDE(void, __atomic_exchange, (size_t size, void *address, const void *value, void *old, int order),
     wide_exchange)
{
    before(address, size, TMS_RT_UPDATE, TMS_RT_PC());
    struct tms_rt_thread *thread = begin(address);
    record(thread, address, size, TMS_RT_UPDATE, order, TMS_RT_PC());
    real___atomic_exchange()(size, address, value, old, order);
    end(thread, address);
}

/* Recorded after it is carried out: all loads of such an object take the lock. */
WIDE(bool, __atomic_compare_exchange,
     (size_t size, void *address, void *expected, const void *value, int order, int fail_order),
     wide_compare)
{
    before(address, size, TMS_RT_UPDATE, TMS_RT_PC());
    struct tms_rt_thread *thread = begin(address);
    bool same = real___atomic_compare_exchange()(size, address, expected, value, order, fail_order);
    record_swap(thread, address, size, same, same ? order : fail_order, TMS_RT_PC());
    end(thread, address);
    return same;
}
