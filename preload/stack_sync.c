/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function entries and exits in a program that does not announce them: at each operation the stack
 * is walked from the innermost frame until it reaches a function that was there before, which its
 * hooked return address proves (return_hook.h). So the cost of a walk is the number of new frames.
 *
 * A walk that can't continue, because it reaches code without call frame information or a signal
 * handler, proves nothing about the frames beyond: all blocks end there, and functions that are
 * found again later begin new ones. What is not proven is not reported.
 */
#include "runtime/core/preload_api.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "frames.h"
#include "return_hook.h"
#include "runtime/core/thread.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_own(uintptr_t pc)
{
    return pc - (uintptr_t)__ehdr_start < (uintptr_t)(etext - __ehdr_start);
}

uintptr_t tms_rt_real_pc(uintptr_t found, const void *slot)
{
    const struct tms_rt_return_hooks *own = tms_rt_return_hooks();

    for (size_t i = tms_rt_is_return_hook(slot) && own != NULL ? own->count : 0; i-- > 0;) {
        if (own->hooks[i].slot == slot) {
            return own->hooks[i].real;
        }
    }
    return found;
}

bool tms_rt_is_foreign(uintptr_t address)
{
    static const char *const places[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    struct dl_find_object object;

    if (is_own(address) || _dl_find_object((void *)address, &object) != 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strncmp(object.dlfo_link_map->l_name, places[i], strlen(places[i])) == 0) {
            return true;
        }
    }
    return false;
}

uint64_t tms_rt_activation(void)
{
    const struct tms_rt_return_hooks *own = tms_rt_return_hooks();

    return own != NULL ? own->activation : 0;
}

bool tms_rt_is_superfluous(void)
{
    return dlsym(RTLD_DEFAULT, "__tsan_func_entry") != NULL;
}

void tms_rt_preload_restart(void)
{
    tms_rt_frames_restart();
    tms_rt_return_hooks_restart();
}

void tms_rt_drop_stack(void)
{
    tms_rt_drop_return_hooks();
}

/* ---- walking ---------------------------------------------------------------------------- */

/* A walk. New hooks are appended to the existing ones, innermost first, until the walk is over. */
struct walk {
    struct tms_rt_cursor cursor;
    struct tms_rt_return_hooks *known;
    size_t added;
    uintptr_t *met;         /* the hooked slot that ended the walk; NULL: none */
    uintptr_t met_function; /* the function that it belongs to now; 0: unknown */
    enum tms_rt_step end;
};

/*
 * Steps out of our own functions, which are compiled with frame pointers, to the program's. A
 * tail-called function has its caller's return address.
 */
static void start_walk(struct walk *walk, const uintptr_t *frame)
{
    while (is_own(frame[1]) && !tms_rt_is_return_hook(&frame[1])) {
        frame = (const uintptr_t *)frame[0];
    }
    walk->cursor.pc = frame[1];
    walk->cursor.bp = frame[0];
    walk->cursor.sp = (uintptr_t)(frame + 2);
    if (tms_rt_is_return_hook(&frame[1])) {
        walk->met = (uintptr_t *)(uintptr_t)&frame[1];
    }
}

/* Written field by field: copying it as a whole right afterwards would stall. */
static bool note(struct walk *walk, uintptr_t *slot, uintptr_t real, uintptr_t function,
                 uintptr_t level)
{
    size_t at = walk->known->count + walk->added;
    struct tms_rt_return_hook *hook = &walk->known->hooks[at];

    if (at == TMS_RT_RETURN_HOOKS_MOST) {
        return false;
    }
    hook->slot = slot;
    hook->real = real;
    hook->function = function;
    hook->level = level;
    walk->added++;
    return true;
}

static void follow(struct walk *walk)
{
    uintptr_t *slot, function;

    while (walk->met == NULL) {
        bool own = is_own(walk->cursor.pc);
        walk->end = tms_rt_step(&walk->cursor, &slot, &function);
        if (walk->end != TMS_RT_STEPPED) {
            return;
        }
        if (tms_rt_is_return_hook(slot)) {
            walk->met = slot;
            walk->met_function = function;
        } else if (!own && !note(walk, slot, *slot, function, 0)) {
            walk->end = TMS_RT_UNKNOWN;
            return;
        }
    }
}

/* ---- what came of it -------------------------------------------------------------------- */

/* How many of the hooked functions are still active. */
static size_t count_alive(const struct walk *walk)
{
    const struct tms_rt_return_hooks *known = walk->known;
    size_t alive = known->count;

    if (walk->met == NULL && walk->end == TMS_RT_OUTERMOST) {
        return 0;
    }
    /* The first slot further out than everything seen. */
    const uintptr_t *seen = walk->met != NULL ? walk->met - 1 : (uintptr_t *)walk->cursor.sp;
    while (alive > 0 && known->hooks[alive - 1].slot <= seen) {
        alive--;
    }
    return alive;
}

static void reverse(struct tms_rt_return_hook *hooks, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct tms_rt_return_hook first = hooks[i];
        hooks[i] = hooks[count - 1 - i];
        hooks[count - 1 - i] = first;
    }
}

/* The runtime's identity of a frame: the caller's stack pointer, minus the tail-call level. */
static uintptr_t frame_of(const struct tms_rt_return_hook *hook)
{
    return (uintptr_t)(hook->slot + 1) - hook->level;
}

/*
 * The function that the walk reaches may not be the one whose return address was hooked, if that
 * one has ended with a tail call. If the tail calls have returned to an earlier function of the
 * chain, that is the current one.
 */
static size_t follow_jumps(struct walk *walk, size_t alive)
{
    const struct tms_rt_return_hook *hooks = walk->known->hooks;
    size_t at = alive;

    while (at > 0 && hooks[at - 1].slot == walk->met) {
        if (walk->met_function == 0 || hooks[at - 1].function == walk->met_function) {
            return at;
        }
        at--;
    }
    if (at < alive && hooks[alive - 1].level + 1 < TMS_RT_LEVELS) {
        const struct tms_rt_return_hook *last = &hooks[alive - 1];
        note(walk, last->slot, last->real, walk->met_function, last->level + 1);
    }
    return alive;
}

static void enter(struct tms_rt_thread *t, const struct tms_rt_return_hook *hook)
{
    /* One byte in, because names are looked for before an address. */
    tms_rt_function_enter(t, hook->function + 1, hook->real, frame_of(hook));
}

/* Leaves functions that have returned, were left by a jump, or are no longer proven. */
static void leave_old(struct tms_rt_thread *t, const struct walk *walk, size_t alive)
{
    const struct tms_rt_return_hook *last = alive > 0 ? &walk->known->hooks[alive - 1] : NULL;
    bool proven = walk->met != NULL && last != NULL && last->slot == walk->met;

    tms_rt_unwind(t, proven ? frame_of(last) : UINTPTR_MAX);
}

static void add_new(struct tms_rt_thread *t, const struct walk *walk, size_t alive)
{
    struct tms_rt_return_hooks *known = walk->known;
    struct tms_rt_return_hook *added = &known->hooks[known->count];

    reverse(added, walk->added);
    if (alive < known->count) {
        memmove(&known->hooks[alive], added, walk->added * sizeof(*added));
    }
    known->count = alive;
    for (size_t i = 0; i < walk->added; i++) {
        struct tms_rt_return_hook *hook = &known->hooks[known->count++];
        hook->number = ++known->numbers;
        tms_rt_install_return_hook(hook);
        enter(t, hook);
    }
}

/* The number of the activation `place` levels from the innermost. */
static uint64_t number_of(const struct tms_rt_return_hooks *known, size_t place)
{
    return known->count >= place ? known->hooks[known->count - place].number : 0;
}

__attribute__((noinline)) void tms_rt_sync_stack(struct tms_rt_thread *t)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    struct walk walk = {.cursor = {.low = t->stack_low, .high = t->stack_high},
                        .known = tms_rt_need_return_hooks()};

    if (walk.known != NULL) {
        walk.known->activation = 0;
    }
    /*
     * Another stack is that of a fiber or a signal handler, while the thread's own is suspended.
     * And an unwinder that takes a lock of its own has begun to read return addresses.
     */
    if (walk.known == NULL || !tms_rt_mode.checks ||
        (uintptr_t)frame - t->stack_low >= t->stack_high - t->stack_low) {
        return;
    }
    start_walk(&walk, frame);
    follow(&walk);
    if (walk.end == TMS_RT_UNWINDER) {
        return;
    }
    size_t alive = follow_jumps(&walk, count_alive(&walk));
    leave_old(t, &walk, alive);
    if (walk.added > 0 || alive != walk.known->count) {
        add_new(t, &walk, alive);
    }
    if (walk.met != NULL || walk.end == TMS_RT_OUTERMOST) {
        walk.known->activation = number_of(walk.known, 1) | number_of(walk.known, 2) << 32;
    }
}
