/* SPDX-License-Identifier: Apache-2.0 */
/* Installs and removes return hooks; see return_hook.h. */
#include "return_hook.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread.h"

extern const char tms_rt_trampoline[] __attribute__((visibility("hidden")));
void tms_rt_returned(uintptr_t *slot);
_Unwind_Reason_Code tms_rt_personality(int version, _Unwind_Action actions,
                                       _Unwind_Exception_Class class,
                                       struct _Unwind_Exception *exception,
                                       struct _Unwind_Context *context);

static TMS_RT_TLS struct tms_rt_return_hooks *own;

static struct {
    struct tms_rt_mutex lock;
    struct tms_rt_return_hooks *_Atomic all;
    struct tms_rt_return_hooks *free;
} known;

struct tms_rt_return_hooks *tms_rt_return_hooks(void)
{
    return own;
}

static struct tms_rt_return_hooks *new_plants(void)
{
    struct tms_rt_return_hooks *hooks = tms_rt_map(sizeof(*hooks));

    if (hooks != NULL) {
        hooks->hooks = tms_rt_map(TMS_RT_RETURN_HOOKS_MOST * sizeof(*hooks->hooks));
    }
    if (hooks == NULL || hooks->hooks == NULL) {
        return NULL;
    }
    hooks->next = atomic_load(&known.all);
    atomic_store(&known.all, hooks);
    return hooks;
}

/* Another thread may have been inside, so the free list is dropped. */
void tms_rt_return_hooks_restart(void)
{
    tms_rt_mutex_restart(&known.lock);
    known.free = NULL;
}

struct tms_rt_return_hooks *tms_rt_need_return_hooks(void)
{
    if (own == NULL) {
        tms_rt_mutex_lock(&known.lock);
        own = known.free;
        if (own != NULL) {
            known.free = own->next_free;
        } else {
            own = new_plants();
        }
        tms_rt_mutex_unlock(&known.lock);
    }
    return own;
}

void tms_rt_drop_return_hooks(void)
{
    if (own != NULL) {
        tms_rt_remove_return_hooks();
        tms_rt_mutex_lock(&known.lock);
        own->next_free = known.free;
        known.free = own;
        tms_rt_mutex_unlock(&known.lock);
        own = NULL;
    }
}

bool tms_rt_is_return_hook(const uintptr_t *slot)
{
    return *slot == (uintptr_t)tms_rt_trampoline;
}

void tms_rt_install_return_hook(struct tms_rt_return_hook *hook)
{
    atomic_signal_fence(memory_order_release);
    *(volatile uintptr_t *)hook->slot = (uintptr_t)tms_rt_trampoline;
}

/* ---- a function returns ----------------------------------------------------------------- */

/*
 * Nothing here may touch a vector or floating-point register, because it may hold the function's
 * result: so no library function is called, and the runtime notices at the next stack walk.
 */
#define BARE __attribute__((target("general-regs-only"), noinline))

BARE static _Noreturn void lost(void)
{
    static const char why[] = "tmesis: a function returns on a stack that was copied or handed to "
                              "another thread, which can't be followed; run the program without "
                              "tmesis, or build it with tmesis cc\n";

    register long result __asm__("rax") = SYS_write;
    __asm__ volatile("syscall"
                     : "+r"(result)
                     : "D"(2L), "S"(why), "d"(sizeof(why) - 1)
                     : "rcx", "r11", "memory");
    __builtin_trap();
}

/* On a stack that another thread has used first, the hook is in that thread's list. */
BARE static uintptr_t find_elsewhere(const uintptr_t *slot)
{
    for (const struct tms_rt_return_hooks *at = known.all; at != NULL; at = at->next) {
        for (size_t i = at->count; i-- > 0;) {
            if (at->hooks[i].slot == slot) {
                return at->hooks[i].real;
            }
        }
    }
    lost();
}

/* From trampoline.S: the function whose return address was in this slot returns. */
BARE void tms_rt_returned(uintptr_t *slot)
{
    struct tms_rt_return_hooks *mine = own;
    size_t count = mine != NULL ? mine->count : 0;
    uintptr_t real = 0;

    for (; count > 0 && mine->hooks[count - 1].slot <= slot; count--) {
        real = mine->hooks[count - 1].slot == slot ? mine->hooks[count - 1].real : 0;
    }
    if (real == 0) {
        *slot = find_elsewhere(slot);
        return;
    }
    *slot = real;
    atomic_signal_fence(memory_order_release);
    mine->count = count;
}

/* ---- unwinders -------------------------------------------------------------------------- */

void tms_rt_suspend_return_hooks(void)
{
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        if (tms_rt_is_return_hook(own->hooks[i].slot)) { /* not left by a jump */
            *own->hooks[i].slot = own->hooks[i].real;
        }
    }
}

void tms_rt_resume_return_hooks(void)
{
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        if (*own->hooks[i].slot == own->hooks[i].real) {
            tms_rt_install_return_hook(&own->hooks[i]);
        }
    }
}

void tms_rt_remove_return_hooks(void)
{
    tms_rt_suspend_return_hooks();
    if (own != NULL) {
        own->count = 0;
    }
}

/*
 * An unwinder has read our address: it sees the real ones from here on. An exception gets here only
 * if the program has an unwinder that unwind.c could not interpose. That unwinder would take our
 * frame for the handler's if it met us again after a destructor, so all hooks are removed now.
 */
_Unwind_Reason_Code tms_rt_personality(int version, _Unwind_Action actions,
                                       _Unwind_Exception_Class class,
                                       struct _Unwind_Exception *exception,
                                       struct _Unwind_Context *context)
{
    tms_rt_remove_return_hooks();
    if ((actions & _UA_FORCE_UNWIND) == 0) {
        tms_rt_record_loss(TMS_SPOOL_LOST_STACKS);
    }
    return _URC_CONTINUE_UNWIND;
}
