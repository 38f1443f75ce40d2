/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks that compilers insert, and the functions of the sanitizers' public headers that a
 * program may call itself. A program compiled with -fsanitize=thread calls a hook before every read
 * and write that may be shared, and at the start and end of every function. Atomic operations are
 * in tsan_atomics.c, annotations of locks and order in annotate.c.
 *
 * This is the hottest code of the runtime: a hook finds its thread, asks the shadow whether the
 * access is redundant, and returns. Before the start (static constructors, ifunc resolvers) and
 * after the end there is no thread, and nothing to do.
 */
#include "runtime/core/call_stack.h"
#include "runtime/shadow/shadow.h"

#include <string.h>

/* ---- reads and writes ------------------------------------------------------------------- */

#define HOOK(access, size, constant)                                                               \
    TMS_RT_EXPORT void __tsan_##access##size(void *address);                                       \
    TMS_RT_EXPORT void __tsan_##access##size##_pc(void *address, void *pc);                        \
    void __tsan_##access##size(void *address)                                                      \
    {                                                                                              \
        tms_rt_hook(address, size, constant, TMS_RT_PC());                                         \
    }                                                                                              \
    void __tsan_##access##size##_pc(void *address, void *pc)                                       \
    {                                                                                              \
        tms_rt_hook(address, size, constant, (uintptr_t)pc);                                       \
    }

/*
 * Aliases of a hook: any alignment is accepted everywhere, and volatile accesses (separate hooks on
 * request only) are treated alike.
 */
#define SAME(access, kind, size)                                                                   \
    TMS_RT_EXPORT void __tsan_##kind##access##size(void *address)                                  \
        __attribute__((alias("__tsan_" #access #size)));
#define SAME_OF(access, size)                                                                      \
    SAME(access, unaligned_, size)                                                                 \
    SAME(access, volatile_, size)                                                                  \
    SAME(access, unaligned_volatile_, size)

/* One call for a plain read and the following write: still two separate events. */
#define READ_WRITE_HOOK(size)                                                                      \
    TMS_RT_EXPORT void __tsan_read_write##size(void *address);                                     \
    void __tsan_read_write##size(void *address)                                                    \
    {                                                                                              \
        tms_rt_hook(address, size, TMS_RT_READ, TMS_RT_PC());                                      \
        tms_rt_hook(address, size, TMS_RT_WRITE, TMS_RT_PC());                                     \
    }                                                                                              \
    SAME(read_write, unaligned_, size)

#define HOOKS(size)                                                                                \
    HOOK(read, size, TMS_RT_READ)                                                                  \
    HOOK(write, size, TMS_RT_WRITE)                                                                \
    SAME_OF(read, size)                                                                            \
    SAME_OF(write, size)                                                                           \
    READ_WRITE_HOOK(size)

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

static inline __attribute__((always_inline)) void range(const void *address, size_t size,
                                                        enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *thread = size != 0 ? tms_rt_enter() : NULL;
    if (thread != NULL) {
        tms_rt_access(thread, (uintptr_t)address, size, access, pc);
        tms_rt_leave(thread);
    }
}

#define RANGE_HOOK(access, constant)                                                               \
    TMS_RT_EXPORT void __tsan_##access##_range(void *address, size_t size);                        \
    TMS_RT_EXPORT void __tsan_##access##_range_pc(void *address, size_t size, void *pc);           \
    void __tsan_##access##_range(void *address, size_t size)                                       \
    {                                                                                              \
        range(address, size, constant, TMS_RT_PC());                                               \
    }                                                                                              \
    void __tsan_##access##_range_pc(void *address, size_t size, void *pc)                          \
    {                                                                                              \
        range(address, size, constant, (uintptr_t)pc);                                             \
    }

RANGE_HOOK(read, TMS_RT_READ)
RANGE_HOOK(write, TMS_RT_WRITE)

/*
 * Newer compilers call these instead of the C functions, which are intercepted under their own
 * names.
 */
TMS_RT_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t size);
TMS_RT_EXPORT void *__tsan_memmove(void *to, const void *from, size_t size);
TMS_RT_EXPORT void *__tsan_memset(void *to, int byte, size_t size);

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    return memmove(to, from, size);
}

void *__tsan_memset(void *to, int byte, size_t size)
{
    return memset(to, byte, size);
}

/* ---- the pointer to the virtual table --------------------------------------------------- */

TMS_RT_EXPORT void __tsan_vptr_read(void **pointer);
TMS_RT_EXPORT void __tsan_vptr_update(void **pointer, void *value);

void __tsan_vptr_read(void **pointer)
{
    tms_rt_hook(pointer, sizeof(*pointer), TMS_RT_READ, TMS_RT_PC());
}

/*
 * Constructors and destructors set the vptr at every level of the class, mostly to its current
 * value: such a write is invisible to other threads, and not in the program's source.
 */
void __tsan_vptr_update(void **pointer, void *value)
{
    if (*pointer != value) {
        tms_rt_hook(pointer, sizeof(*pointer), TMS_RT_WRITE, TMS_RT_PC());
    }
}

/* ---- functions -------------------------------------------------------------------------- */

TMS_RT_EXPORT void __tsan_init(void);
TMS_RT_EXPORT void __tsan_func_entry(void *caller);
TMS_RT_EXPORT void __tsan_func_exit(void);

/* Called by a constructor of every object file. */
void __tsan_init(void)
{
    tms_rt_start();
}

static __attribute__((noinline)) void enter(struct tms_rt_thread *thread, uintptr_t address,
                                            uintptr_t caller, uintptr_t frame)
{
    thread->inside = 1;
    tms_rt_function_enter(thread, address, caller, frame);
    tms_rt_leave_fast(thread);
}

static __attribute__((noinline)) void leave(struct tms_rt_thread *thread, uintptr_t frame)
{
    thread->inside = 1;
    tms_rt_function_exit(thread, frame);
    tms_rt_leave_fast(thread);
}

/*
 * The frame is the stack pointer at the call. gcc may tail-call the exit hook; then both the frame
 * and the hook's return address are the caller's.
 */
void __tsan_func_entry(void *caller)
{
    struct tms_rt_thread *thread = tms_rt_self;
    uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa();
    if (thread != NULL && thread->inside == 0 &&
        !tms_rt_enter_plain(thread, TMS_RT_PC(), (uintptr_t)caller, frame)) {
        enter(thread, TMS_RT_PC(), (uintptr_t)caller, frame);
    }
}

void __tsan_func_exit(void)
{
    struct tms_rt_thread *thread = tms_rt_self;
    uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa();
    if (thread != NULL && thread->inside == 0 && !tms_rt_exit_plain(thread, frame)) {
        leave(thread, frame);
    }
}
/* ---- accesses that the program announces itself ------------------------------------------ */

#define UNALIGNED(bits)                                                                            \
    typedef uint##bits##_t tms_unaligned##bits __attribute__((aligned(1), may_alias));             \
    TMS_RT_EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *address);            \
    TMS_RT_EXPORT void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value);     \
    uint##bits##_t __sanitizer_unaligned_load##bits(const void *address)                           \
    {                                                                                              \
        tms_rt_hook(address, (bits) / 8, TMS_RT_READ, TMS_RT_PC());                                \
        return *(const tms_unaligned##bits *)address;                                              \
    }                                                                                              \
    void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value)                    \
    {                                                                                              \
        tms_rt_hook(address, (bits) / 8, TMS_RT_WRITE, TMS_RT_PC());                               \
        *(tms_unaligned##bits *)address = value;                                                   \
    }

UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

/* Objects of an uninstrumented library: an access represents a call. */
TMS_RT_EXPORT void *__tsan_external_register_tag(const char *type);
TMS_RT_EXPORT void __tsan_external_register_header(void *tag, const char *header);
TMS_RT_EXPORT void __tsan_external_assign_tag(void *address, void *tag);
TMS_RT_EXPORT void __tsan_external_read(void *address, void *pc, void *tag);
TMS_RT_EXPORT void __tsan_external_write(void *address, void *pc, void *tag);

void *__tsan_external_register_tag(const char *type)
{
    static char tag;
    return &tag;
}

void __tsan_external_register_header(void *tag, const char *header)
{
}

void __tsan_external_assign_tag(void *address, void *tag)
{
}

void __tsan_external_read(void *address, void *pc, void *tag)
{
    tms_rt_hook(address, 1, TMS_RT_READ, (uintptr_t)pc);
}

void __tsan_external_write(void *address, void *pc, void *tag)
{
    tms_rt_hook(address, 1, TMS_RT_WRITE, (uintptr_t)pc);
}

/* ---- what has no meaning here ----------------------------------------------------------- */

TMS_RT_EXPORT void *__tsan_get_current_fiber(void);
TMS_RT_EXPORT void *__tsan_create_fiber(unsigned flags);
TMS_RT_EXPORT void __tsan_destroy_fiber(void *fiber);
TMS_RT_EXPORT void __tsan_switch_to_fiber(void *fiber, unsigned flags);
TMS_RT_EXPORT void __tsan_set_fiber_name(void *fiber, const char *name);
TMS_RT_EXPORT void __tsan_flush_memory(void);

/* Fibers are not supported: all of them get this handle. */
static char only_fiber;

void *__tsan_get_current_fiber(void)
{
    return &only_fiber;
}

void *__tsan_create_fiber(unsigned flags)
{
    tms_rt_warn("the program switches between fibers, which are not followed: their events count "
                "as those of the thread that runs them, and blocks that are open across a switch "
                "may be judged wrongly");
    return &only_fiber;
}

void __tsan_destroy_fiber(void *fiber)
{
}

void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
}

void __tsan_set_fiber_name(void *fiber, const char *name)
{
}

void __tsan_flush_memory(void)
{
}

/* Weak: with -fsanitize=undefined the compiler's runtime defines these itself. */
#define SHARED TMS_RT_EXPORT __attribute__((weak))
SHARED void __sanitizer_print_stack_trace(void);
SHARED void __sanitizer_set_report_path(const char *path);
SHARED void __sanitizer_set_report_fd(void *descriptor);
SHARED void __sanitizer_set_death_callback(void (*callback)(void));

/* The command prints reports after the program has ended. */
void __sanitizer_print_stack_trace(void)
{
}

void __sanitizer_set_report_path(const char *path)
{
}

void __sanitizer_set_report_fd(void *descriptor)
{
}

void __sanitizer_set_death_callback(void (*callback)(void))
{
}
