/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: annotated ones, functions, and critical sections; and the frames of functions, whose
 * exits are not always announced by a hook.
 */
#include <assert.h>
#include <string.h>

#include "runtime/core/call_stack.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"
#include "runtime/core/judge_events.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/open_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread_registry.h"
#include "runtime/core/transaction_ring.h"
#include "runtime/shadow/shadow.h"
#include "runtime/spool/spool_writer.h"
#include "runtime/spool/sync_recorder.h"

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    unsigned split; /* enum tms_split */
    bool functions, sections;
} blocks;

static bool names(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        bool starts = at == list || at[-1] == ',';
        if (starts && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

void tms_rt_blocks_start(const char *sources, const char *split)
{
    static const struct {
        const char *word;
        unsigned bit;
    } splits[] = {
#define X(name, value, text) {text, TMS_SPLIT_##name},
        TMS_SPLITS(X)
#undef X
    };

    blocks.functions =
        sources == NULL || names(sources, "@functions") || names(sources, "@threads");
    blocks.sections = sources != NULL && names(sources, "@locks");
    blocks.split = split == NULL ? TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER : 0;
    for (size_t i = 0; split != NULL && i < sizeof(splits) / sizeof(splits[0]); i++) {
        blocks.split |= names(split, splits[i].word) ? splits[i].bit : 0;
    }
}

/* ---- begin and end ---------------------------------------------------------------------- */

static void operate(struct tms_rt_thread *t, uint8_t kind, bool synthetic, uint32_t label,
                    uint32_t site)
{
    struct tms_op op = {.target = label,
                        .location = site,
                        .event_kind = kind == TMS_OP_BEGIN ? TMS_EVENT_BEGIN : TMS_EVENT_END,
                        .kind = kind,
                        .flags = TMS_OP_IN_BLOCK | (synthetic ? TMS_OP_SYNTHETIC : 0)};

    tms_rt_operate(t, &op, 0);
}

static void spool(struct tms_rt_thread *t, uint8_t kind, uint32_t label, uint32_t site)
{
    struct tms_spool_event event = {
        .number = t->number, .target = label, .site = site, .kind = kind};

    tms_rt_spool_event(t, &event);
}

/*
 * The outermost deferred block or call; NULL: none. A begin takes a number, so a call inside a
 * block has at least the number of that block.
 */
static const struct tms_rt_open *next_deferred(const struct tms_rt_thread *t)
{
    const struct tms_rt_open *block =
        t->deferred_begins > 0 ? &t->open[t->open_count - t->deferred_begins] : NULL;
    const struct tms_rt_open *call =
        t->deferred_calls > 0 ? &t->calls[t->call_count - t->deferred_calls] : NULL;

    assert(block == NULL || block->source != TMS_RT_CALL);
    assert(call == NULL || call->source == TMS_RT_CALL);
    return call == NULL || (block != NULL && block->number <= call->number) ? block : call;
}

/* Events that were recorded in between do not depend on blocks. */
void tms_rt_record_begins(struct tms_rt_thread *t, uint64_t before)
{
    const struct tms_rt_open *open;

    while ((open = next_deferred(t)) != NULL && open->number < before) {
        bool call = open->source == TMS_RT_CALL;
        struct tms_spool_event event = {.number =
                                            open->number > t->spooled ? open->number : t->spooled,
                                        .target = open->label,
                                        .site = open->site,
                                        .kind = call ? TMS_EVENT_CALL : TMS_EVENT_BEGIN};
        *(call ? &t->deferred_calls : &t->deferred_begins) -= 1;
        tms_rt_spool_write(t, &event);
    }
}

/*
 * Most blocks stay empty, so a begin is recorded with the first event inside it, unless the begin
 * itself is an event that others depend on.
 */
static void spool_begin(struct tms_rt_thread *t, const struct tms_rt_open *open, bool splits)
{
    if ((!splits || !tms_rt_mode.records) && !tms_rt_mode.full) {
        t->deferred_begins++;
    } else {
        spool(t, TMS_EVENT_BEGIN, open->label, open->site);
    }
}

static bool make_room(struct tms_rt_thread *t)
{
    size_t capacity = t->open_capacity;

    if (!TMS_RESERVE(&memory, &t->open, &capacity, t->open_count + 1u, 16)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    t->open_capacity = (uint32_t)capacity;
    return true;
}

static void begin_transaction(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    t->transactions_seen++;
    if (t->engine != NULL) {
        tms_rt_begin_locally(t, label, site);
    } else {
        operate(t, TMS_OP_BEGIN, false, label, site);
    }
}

/* Blocks that are not functions are rare enough to start an epoch each time. */
static void open_block(struct tms_rt_thread *t, enum tms_rt_source source, uint32_t label,
                       uint32_t site, struct tms_rt_function *function)
{
    bool splits = t->open_count > 0 && t->split_due;

    if (t->open_count == t->open_capacity && !make_room(t)) {
        return;
    }
    assert(t->open_count < t->open_capacity && source != TMS_RT_CALL);
    struct tms_rt_open *open = &t->open[t->open_count++];
    *open = (struct tms_rt_open){.label = label,
                                 .site = site,
                                 .source = (uint8_t)source,
                                 .epoch = function == NULL || tms_rt_starts_epoch(function),
                                 .function = function};
    if (t->blocks_seen++ == 0) {
        tms_rt_block_seen();
    }
    if (t->open_count == 1) {
        begin_transaction(t, label, site);
    } else {
        if (t->split_due) {
            tms_rt_split_due(t, site);
        }
        tms_rt_next_number(t);
    }
    open->number = t->number;
    if (open->epoch) {
        tms_rt_start_epoch(t);
    }
    tms_rt_judge_opened(t, label);
    if (tms_rt_mode.records_sync) {
        spool_begin(t, open, splits);
    }
    tms_rt_point(t, TMS_RT_AT_BLOCK, NULL, tms_rt_site_pc(site));
}

/* The index, from 1 on, of the innermost block of that source; 0: none. */
static uint32_t innermost(const struct tms_rt_thread *t, enum tms_rt_source source)
{
    uint32_t at = t->open_count;

    while (at > 0 && t->open[at - 1].source != source) {
        at--;
    }
    return at;
}

/* An empty transaction was still checked, and is counted. */
static void spool_end(struct tms_rt_thread *t, bool recorded, uint8_t kind, uint32_t label,
                      uint32_t site)
{
    if (recorded) {
        spool(t, kind, label, site);
        return;
    }
    assert(t->deferred_begins > 0);
    t->deferred_begins--;
    if (t->open_count == 0 && tms_rt_mode.records) {
        tms_rt_spool_empty_transaction(t, label, site);
    } else if (t->deferred_begins == 0) {
        tms_rt_record_sync_flush(t);
    }
}

/* Records a transaction even if it is empty. */
static void record_transaction(struct tms_rt_thread *t)
{
    if (tms_rt_mode.records) {
        tms_rt_record_begins(t, UINT64_MAX);
    }
}

/* Ends a block that is still among the open ones; the outermost ends the transaction. */
static inline void end_block(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    assert(t->open_count > 0);
    if (t->open_count > 1) {
        tms_rt_next_number(t);
    } else if (!tms_rt_end_locally(t, label, site)) {
        record_transaction(t);
        operate(t, TMS_OP_END, false, label, site);
    }
}

/* `kind`: the recorded event, END or DEMOTE. */
static void close_block(struct tms_rt_thread *t, uint32_t at, uint8_t kind, uint32_t site)
{
    assert(at > 0 && at <= t->open_count);
    if (t->split_due && t->open_count > 1) {
        tms_rt_split_due(t, site);
    }
    bool epoch = t->open[at - 1].epoch | t->split_due;
    t->split_due = false; /* the last block has ended: nothing is left to split */
    uint32_t label = t->open[at - 1].label;
    if (at == 1 && t->open_count > 1) { /* the transaction continues under the next block's label */
        record_transaction(t);
    }
    if (kind != TMS_EVENT_DEMOTE) {
        tms_rt_judge_closing_block(t, at - 1);
    }
    end_block(t, label, site);
    assert(t->deferred_begins <= t->open_count);
    bool recorded = at <= t->open_count - t->deferred_begins;
    if (at < t->open_count) {
        memmove(&t->open[at - 1], &t->open[at], (t->open_count - at) * sizeof(*t->open));
    }
    t->open_count--;
    if (epoch) {
        tms_rt_start_epoch(t);
    }
    if (tms_rt_mode.records_sync) {
        spool_end(t, recorded, kind, label, site);
    }
}

/* Closes the innermost block of that source, if there is one. */
static void close_source(struct tms_rt_thread *t, enum tms_rt_source source, uint32_t site)
{
    uint32_t at = innermost(t, source);

    if (at > 0) {
        close_block(t, at, TMS_EVENT_END, site);
    }
}

/* The end of a function's block has the site of its begin, wherever the function returns. */
static void close_function(struct tms_rt_thread *t)
{
    uint32_t at = innermost(t, TMS_RT_FUNCTION);

    if (at > 0) {
        close_block(t, at, TMS_EVENT_END, t->open[at - 1].site);
    }
}

/*
 * The innermost function that is a block has reached a wait: its block ends, and in a recording
 * with accesses the function continues as a call. Returns the new kind of its frame.
 */
static enum tms_rt_frame_kind demote_function(struct tms_rt_thread *t)
{
    uint32_t at = innermost(t, TMS_RT_FUNCTION);

    if (at == 0 || (!tms_rt_mode.records && t->judge == NULL)) {
        close_function(t);
        return TMS_RT_FRAME_PLAIN;
    }
    const struct tms_rt_open block = t->open[at - 1];
    if (tms_rt_mode.records) {
        tms_rt_record_begins(t, UINT64_MAX);
    }
    bool judged = at <= t->judged_blocks;
    close_block(t, at, TMS_EVENT_DEMOTE, block.site);
    bool called = tms_rt_block_becomes_call(t, &block);
    tms_rt_judge_demoted(t, judged);
    return called ? TMS_RT_FRAME_CALL : TMS_RT_FRAME_PLAIN;
}

static void split_now(struct tms_rt_thread *t, uint32_t site)
{
    assert(t->open_count > 0);
    operate(t, TMS_OP_END, true, t->open[0].label, site);
    operate(t, TMS_OP_BEGIN, true, t->open[0].label, site);
    tms_rt_start_epoch(t);
}

bool tms_rt_splits_at(unsigned what)
{
    return (blocks.split & what) != 0;
}

/*
 * A fork is the last event of its transaction; any other event that splits is the first of the
 * next.
 */
void tms_rt_split(struct tms_rt_thread *t, unsigned what, uintptr_t pc)
{
    if (!tms_rt_mode.checks || t->open_count == 0 || !tms_rt_splits_at(what)) {
        return;
    }
    assert((what & (what - 1)) == 0);
    if (what == TMS_SPLIT_FORK) {
        t->split_due = true;
        t->epoch_span = t->stretch_span = 0; /* the next access must not be filtered */
        return;
    }
    t->split_due = false;
    split_now(t, tms_rt_site(t, pc));
}

void tms_rt_split_due(struct tms_rt_thread *t, uint32_t site)
{
    if (t->split_due && t->open_count > 0) {
        split_now(t, site);
    }
    t->split_due = false;
}

void tms_rt_begin(struct tms_rt_thread *t, const char *name, uintptr_t pc)
{
    uint32_t label = tms_rt_mode.checks && name != NULL ? tms_rt_text_label(t, name) : 0;

    if (name == NULL) {
        tms_rt_warn("tmesis_begin was called without a name (NULL), so this block is ignored");
    }
    t->annotated = t->annotated << 1 | (label != 0);
    if (label != 0) {
        open_block(t, TMS_RT_ANNOTATED, label, tms_rt_site(t, pc), NULL);
    }
}

void tms_rt_end(struct tms_rt_thread *t, uintptr_t pc)
{
    bool meant = t->annotated & 1;

    t->annotated >>= 1;
    if (meant && tms_rt_mode.checks) {
        close_source(t, TMS_RT_ANNOTATED, tms_rt_site(t, pc));
    }
}

void tms_rt_section_begins(struct tms_rt_thread *t, const void *lock, uintptr_t pc)
{
    (void)lock;
    if (blocks.sections && t->held_count == 0) {
        bool known = t->top > t->frames;
        uint32_t label = known ? tms_rt_function_of(t, t->top->address)->name : 0;
        open_block(t, TMS_RT_SECTION, label, tms_rt_site(t, pc), NULL);
    }
}

void tms_rt_section_ends(struct tms_rt_thread *t, uintptr_t pc)
{
    if (blocks.sections && t->held_count == 0) {
        close_source(t, TMS_RT_SECTION, tms_rt_site(t, pc));
    }
}

/* ---- frames ----------------------------------------------------------------------------- */

static inline void leave_frame(struct tms_rt_thread *t)
{
    const struct tms_rt_frame *frame = t->top;

    assert(frame > t->frames);
    if (frame->block == TMS_RT_FRAME_BLOCK) {
        close_function(t);
    } else if (frame->block == TMS_RT_FRAME_CALL) {
        tms_rt_close_call(t);
    }
    /* It returns with a lock taken, or released one of its caller's: only part of an operation. */
    if (frame->held != (uint16_t)t->held_count && blocks.functions) {
        tms_rt_function_unfit(tms_rt_function_of(t, frame->address));
    }
    t->top--;
}

/* Is it on the thread's own stack, where further in means a lower address? */
static bool is_known(const struct tms_rt_thread *t, uintptr_t frame)
{
    return t->stack_low <= frame && frame < t->stack_high;
}

/*
 * Does the block need the slow path? The engine has not seen the thread yet, a transaction is to be
 * split, or every block is recorded or a scheduling point.
 */
static inline bool is_special(const struct tms_rt_thread *t)
{
    return t->engine == NULL || t->split_due || tms_rt_mode.special;
}

static __attribute__((noinline)) void enter_any(struct tms_rt_thread *t, uintptr_t address,
                                                uintptr_t caller, uintptr_t frame)
{
    if (!tms_rt_mode.checks) {
        return;
    }
    /* Frames that are not further out have been left, whether a hook announced it or not. */
    while (t->top > t->frames && is_known(t, frame) && t->top->frame <= frame) {
        leave_frame(t);
    }
    if (t->top + 1 >= t->frames_end) {
        t->too_deep++;
        return;
    }
    struct tms_rt_function *function = tms_rt_function_of(t, address);
    if (!t->top->real && !function->plumbing && (t->index != 1 || TMS_RT_NAMELESS)) {
        tms_rt_function_starts(function); /* the start function, or what std::thread calls */
    }
    tms_rt_push_frame(t, address, caller, frame, !function->plumbing);
    uint32_t label = atomic_load_explicit(&function->label, memory_order_relaxed);
    if (label != 0) {
        open_block(t, TMS_RT_FUNCTION, label, function->site, function);
        t->top->block = TMS_RT_FRAME_BLOCK;
    } else if (!function->called) {
        tms_rt_is_plain(t, function);
    } else if (tms_rt_open_call(t, function)) {
        t->top->block = TMS_RT_FRAME_CALL;
    }
}

/* The fast path of enter_any and open_block, for an ordinary block called by user code. */
void tms_rt_function_enter(struct tms_rt_thread *t, uintptr_t address, uintptr_t caller,
                           uintptr_t frame)
{
    struct tms_rt_function *function = t->called.function[tms_rt_call_hash(address)];
    uint32_t label = atomic_load_explicit(&function->label, memory_order_relaxed);

    if (function->address != address || label == 0 || !tms_rt_fits(t, frame) || !t->top->real ||
        t->open_count == t->open_capacity || is_special(t)) {
        enter_any(t, address, caller, frame);
        return;
    }
    assert(t->engine != NULL && t->open_count < t->open_capacity);
    tms_rt_push_frame(t, address, caller, frame, true);
    t->top->block = TMS_RT_FRAME_BLOCK;
    bool epoch = tms_rt_starts_epoch(function);
    t->open[t->open_count] = (struct tms_rt_open){.label = label,
                                                  .site = function->site,
                                                  .source = TMS_RT_FUNCTION,
                                                  .epoch = epoch,
                                                  .number = t->number + 1,
                                                  .function = function};
    t->blocks_seen++;
    if (t->open_count++ > 0) {
        tms_rt_next_number(t);
    } else {
        t->transactions_seen++;
        tms_rt_begin_locally(t, label, function->site);
    }
    assert(t->open[t->open_count - 1].number == t->number || !tms_rt_mode.checks);
    tms_rt_judge_opened(t, label);
    t->deferred_begins += tms_rt_mode.records_sync;
    if (epoch) {
        tms_rt_start_epoch(t);
    }
}

static __attribute__((noinline)) void exit_any(struct tms_rt_thread *t, uintptr_t frame)
{
    if (t->too_deep > 0) {
        t->too_deep--;
        return;
    }
    /*
     * An exit hook that is tail-called runs in the caller's frame: so the frame that is left is the
     * last one inside that of the hook, and those further in are dead.
     */
    while (t->top > t->frames + 1 && is_known(t, frame) && t->top[-1].frame < frame) {
        leave_frame(t);
    }
    if (t->top > t->frames) {
        leave_frame(t);
    }
}

/* Is the top frame left, and is it the innermost block? */
static inline bool leaves_block(const struct tms_rt_thread *t, uintptr_t frame)
{
    const struct tms_rt_frame *top = t->top;

    return top > t->frames && top->block == TMS_RT_FRAME_BLOCK && top[-1].frame >= frame &&
           top->held == (uint16_t)t->held_count && t->too_deep == 0 && t->open_count > 0 &&
           t->open[t->open_count - 1].source == TMS_RT_FUNCTION;
}

/* The fast path of exit_any and close_block, for an ordinary block. */
void tms_rt_function_exit(struct tms_rt_thread *t, uintptr_t frame)
{
    if (is_special(t) || !leaves_block(t, frame)) {
        exit_any(t, frame);
        return;
    }
    const struct tms_rt_open *open = &t->open[t->open_count - 1];
    tms_rt_judge_closing_block(t, t->open_count - 1);
    end_block(t, open->label, open->site);
    t->open_count--;
    if (open->epoch) {
        tms_rt_start_epoch(t);
    }
    if (tms_rt_mode.records_sync) {
        spool_end(t, t->deferred_begins == 0, TMS_EVENT_END, open->label, open->site);
    }
    assert(t->open_count > 0 || t->running_from == 0 || !tms_rt_mode.checks);
    t->top--;
}

void tms_rt_unwind(struct tms_rt_thread *t, uintptr_t stack_pointer)
{
    while (t->top > t->frames && t->top->frame < stack_pointer) {
        t->too_deep = 0; /* frames that did not fit were further in */
        leave_frame(t);
    }
}

/* ---- epochs ----------------------------------------------------------------------------- */

void tms_rt_function_raced(struct tms_rt_thread *t)
{
    if (t->top > t->frames) {
        tms_rt_function_of(t, t->top->address)->raced = true;
    }
}

#define RELEASING_MOST 16u /* innermost blocks that are checked */

void tms_rt_function_releases(struct tms_rt_thread *t, uint64_t acquired)
{
    uint32_t least = t->open_count > RELEASING_MOST ? t->open_count - RELEASING_MOST : 0;

    assert(acquired <= t->number);
    for (uint32_t at = t->open_count; at > least && t->open[at - 1].number > acquired; at--) {
        struct tms_rt_function *function = t->open[at - 1].function;
        if (function != NULL && !function->releases) {
            function->releases = true;
        }
    }
}

void tms_rt_functions_wait(struct tms_rt_thread *t)
{
    if (!blocks.functions) {
        return;
    }
    for (struct tms_rt_frame *frame = t->top; frame > t->frames; frame--) {
        struct tms_rt_function *function = tms_rt_function_of(t, frame->address);
        tms_rt_function_unfit(function);
        if (frame->block == TMS_RT_FRAME_BLOCK &&
            atomic_load_explicit(&function->label, memory_order_relaxed) == 0) {
            frame->block = (uint8_t)demote_function(t);
        }
    }
}

void tms_rt_close_all(struct tms_rt_thread *t)
{
    while (t->top > t->frames) {
        leave_frame(t);
    }
    while (t->open_count > 0) {
        close_block(t, t->open_count, TMS_EVENT_END, 0);
    }
}
