/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers events to operations; see lower.h for the rules. */
#include "spec/lower.h"

#include <assert.h>
#include <string.h>

#include "trace/validate.h"

int tms_lower_init(struct tms_lower *lower, struct tms_context *context,
                   const struct tms_settings *settings, tms_lower_emit *emit, void *user)
{
    lower->context = context;
    lower->spec = settings->spec;
    lower->split = settings->split;
    lower->ignored = tms_suppressions_have(settings->suppressions, TMS_SUPPRESS_LOCK)
                         ? settings->suppressions
                         : NULL;
    lower->emit = emit;
    lower->user = user;
    lower->batch = TMS_LOWER_BATCH;
    return tms_object_fields_init(&lower->objects, context);
}

void tms_lower_clear(struct tms_lower *lower)
{
    for (size_t i = 0; i < lower->thread_capacity; i++) {
        tms_release(&lower->memory, lower->threads[i].blocks, lower->threads[i].block_capacity,
                    sizeof(struct tms_block));
    }
    tms_release(&lower->memory, lower->threads, lower->thread_capacity, sizeof(*lower->threads));
    tms_release(&lower->memory, lower->plain, lower->plain_capacity, 1);
    tms_release(&lower->memory, lower->labels, lower->label_capacity, 1);
    tms_release(&lower->memory, lower->locks, lower->lock_capacity, 1);
    tms_object_fields_clear(&lower->objects);
}

void tms_lower_flush(struct tms_lower *lower)
{
    if (lower->count > 0) {
        lower->emit(lower->user, lower->ops, lower->count);
        lower->count = 0;
    }
}

/* ---- what is atomic --------------------------------------------------------------------- */

/* "pkg/Type.main([Ljava/lang/String;)V" is called main, as is "main". */
static bool is_called(const char *function, const char *wanted)
{
    size_t length = strcspn(function, "(");
    size_t start = length;

    while (start > 0 && strchr("./:", function[start - 1]) == NULL) {
        start--;
    }
    return length - start == strlen(wanted) &&
           memcmp(function + start, wanted, length - start) == 0;
}

static bool default_atomic(const struct tms_lower *lower, const char *label,
                           enum tms_block_source source)
{
    return source == TMS_FROM_BEGIN ||
           !(is_called(label, "main") || (lower->run_methods && is_called(label, "run")));
}

static enum tms_label_state specified(const struct tms_lower *lower, uint32_t label,
                                      enum tms_block_source source)
{
    const char *name = tms_name(lower->context, TMS_CLASS_LABEL, label, NULL);
    enum tms_spec_answer answer =
        lower->spec != NULL ? tms_spec_ask(lower->spec, name) : TMS_SPEC_DEFAULT;

    if (answer == TMS_SPEC_NOT_ATOMIC) {
        return TMS_LABEL_NOT_ATOMIC;
    }
    bool atomic = answer == TMS_SPEC_ATOMIC || default_atomic(lower, name, source);
    return atomic && source != TMS_FROM_CALL ? TMS_LABEL_ATOMIC : TMS_LABEL_CANDIDATE;
}

/* Each label is looked up once for each source. TMS_OK or TMS_ERR_MEMORY. */
static int label_state(struct tms_lower *lower, uint32_t label, enum tms_block_source source,
                       enum tms_label_state *state)
{
    size_t at = (size_t)label * TMS_BLOCK_SOURCES + source;

    if (!TMS_RESERVE(&lower->memory, &lower->labels, &lower->label_capacity, at + 1, 64)) {
        return TMS_ERR_MEMORY;
    }
    uint8_t *known = &lower->labels[at];
    if (*known == TMS_LABEL_UNKNOWN) {
        *known = (uint8_t)specified(lower, label, source);
    }
    *state = (enum tms_label_state) * known;
    return TMS_OK;
}

/* ---- emitting --------------------------------------------------------------------------- */

static struct tms_op *put(struct tms_lower *lower, const struct tms_event *event, uint64_t number,
                          uint8_t kind, uint8_t flags)
{
    if (flags & TMS_OP_FIRST) {
        tms_lower_flush(lower);
    }
    struct tms_op *op = &lower->ops[lower->count++];
    assert(lower->count <= TMS_LOWER_BATCH + TMS_LOWER_MOST);
    *op = (struct tms_op){.event = number,
                          .thread = event->thread,
                          .target = event->target,
                          .location = event->location,
                          .kind = kind,
                          .event_kind = event->kind,
                          .flags = flags};
    return op;
}

/* The label under which the transaction goes on: that of its outermost block. */
static uint32_t outer_label(const struct tms_lower_thread *thread)
{
    for (size_t i = 1; i <= thread->block_count; i++) {
        if (thread->blocks[i].atomic) {
            return thread->blocks[i].label;
        }
    }
    return 0;
}

static void put_split(struct tms_lower *lower, const struct tms_lower_thread *thread,
                      const struct tms_event *event, uint64_t number)
{
    uint32_t label = outer_label(thread);

    put(lower, event, number, TMS_OP_END, TMS_OP_IN_BLOCK | TMS_OP_SYNTHETIC)->target = label;
    put(lower, event, number, TMS_OP_BEGIN, TMS_OP_IN_BLOCK | TMS_OP_SYNTHETIC)->target = label;
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* Pushes an open block, atomic or not according to its label. TMS_OK or TMS_ERR_MEMORY. */
static int push_block(struct tms_lower *lower, struct tms_lower_thread *thread,
                      const struct tms_event *event, struct tms_block **out)
{
    enum tms_block_source source = tms_block_source(event);
    enum tms_label_state state;

    if (label_state(lower, event->target, source, &state) != TMS_OK ||
        !TMS_RESERVE(&lower->memory, &thread->blocks, &thread->block_capacity,
                     thread->block_count + 2, 8)) {
        return TMS_ERR_MEMORY;
    }
    *out = &thread->blocks[++thread->block_count];
    **out = (struct tms_block){event->target, (uint8_t)source, state == TMS_LABEL_ATOMIC,
                               state == TMS_LABEL_CANDIDATE};
    return TMS_OK;
}

static int open_block(struct tms_lower *lower, struct tms_lower_thread *thread,
                      const struct tms_event *event, uint64_t number, uint8_t first)
{
    struct tms_block *block;
    uint8_t in_block = thread->atomic > 0 ? TMS_OP_IN_BLOCK : 0;

    if (push_block(lower, thread, event, &block) != TMS_OK) {
        return TMS_ERR_MEMORY;
    }
    if (!block->atomic) {
        lower->not_atomic++;
        lower->unary += in_block == 0;
        put(lower, event, number, TMS_OP_STEP, first | in_block);
        if (block->candidate) {
            put(lower, event, number, TMS_OP_OPEN, 0);
        }
    } else if (thread->atomic++ == 0) {
        lower->transactions++;
        put(lower, event, number, TMS_OP_BEGIN, first | TMS_OP_IN_BLOCK);
    } else {
        put(lower, event, number, TMS_OP_NEST, TMS_OP_IN_BLOCK);
    }
    return TMS_OK;
}

/* The innermost block of its kind: `end` closes a begin, `exit` an enter. */
static size_t innermost(const struct tms_lower_thread *thread, const struct tms_event *event)
{
    size_t at = thread->block_count;

    while (thread->blocks[at].source != tms_block_source(event)) {
        at--;
        assert(at > 0); /* ensured by validation */
    }
    return at;
}

static struct tms_block pop_block(struct tms_lower_thread *thread, size_t at)
{
    struct tms_block block = thread->blocks[at];

    for (; at < thread->block_count; at++) {
        thread->blocks[at] = thread->blocks[at + 1];
    }
    thread->block_count--;
    return block;
}

static void end_atomic(struct tms_lower *lower, struct tms_lower_thread *thread,
                       const struct tms_event *event, uint64_t number, uint32_t label)
{
    uint8_t kind = --thread->atomic == 0 ? TMS_OP_END : TMS_OP_UNNEST;

    put(lower, event, number, kind, TMS_OP_IN_BLOCK)->target = label;
}

static void close_block(struct tms_lower *lower, struct tms_lower_thread *thread,
                        const struct tms_event *event, uint64_t number)
{
    struct tms_block block = pop_block(thread, innermost(thread, event));
    uint8_t in_block = thread->atomic > 0 ? TMS_OP_IN_BLOCK : 0;

    if (block.atomic) {
        end_atomic(lower, thread, event, number, block.label);
        return;
    }
    lower->unary += in_block == 0;
    put(lower, event, number, TMS_OP_STEP, in_block);
    if (block.candidate) {
        put(lower, event, number, TMS_OP_CLOSE, 0);
    }
}

/* The transaction, or nested block, ends here, but `judge` goes on with it. */
static void demote_block(struct tms_lower *lower, struct tms_lower_thread *thread,
                         const struct tms_event *event, uint64_t number)
{
    struct tms_block *block = &thread->blocks[innermost(thread, event)];
    uint8_t in_block = thread->atomic > 0 ? TMS_OP_IN_BLOCK : 0;

    block->source = TMS_FROM_CALL;
    if (!block->atomic) {
        lower->unary += in_block == 0;
        put(lower, event, number, TMS_OP_STEP, in_block);
        return;
    }
    block->atomic = false;
    block->candidate = true;
    end_atomic(lower, thread, event, number, block->label);
    put(lower, event, number, TMS_OP_DEMOTE, 0);
}

/* ---- single events ---------------------------------------------------------------------- */

static const struct {
    uint8_t op;
    uint8_t split; /* begins a new transaction inside a block, if asked for */
} plain[TMS_EVENT_COUNT] = {
    [TMS_EVENT_READ] = {TMS_OP_READ, 0},
    [TMS_EVENT_WRITE] = {TMS_OP_WRITE, 0},
    [TMS_EVENT_UPDATE] = {TMS_OP_UPDATE, 0},
    [TMS_EVENT_ACQUIRE] = {TMS_OP_ACQUIRE, 0},
    [TMS_EVENT_RELEASE] = {TMS_OP_RELEASE, 0},
    [TMS_EVENT_SHARED_ACQUIRE] = {TMS_OP_SHARED_ACQUIRE, 0},
    [TMS_EVENT_SHARED_RELEASE] = {TMS_OP_SHARED_RELEASE, 0},
    [TMS_EVENT_FORK] = {TMS_OP_FORK, 0},
    [TMS_EVENT_JOIN] = {TMS_OP_JOIN, TMS_SPLIT_JOIN},
    [TMS_EVENT_WAIT] = {TMS_OP_STEP, TMS_SPLIT_WAIT},
    [TMS_EVENT_ARRIVE] = {TMS_OP_ARRIVE, 0},
    [TMS_EVENT_DEPART] = {TMS_OP_DEPART, TMS_SPLIT_BARRIER},
    [TMS_EVENT_ESCAPE] = {TMS_OP_ESCAPE, 0},
    [TMS_EVENT_ALLOC] = {TMS_OP_STEP, 0},
    [TMS_EVENT_FREE] = {TMS_OP_STEP, 0},
    [TMS_EVENT_ATOMIC_READ] = {TMS_OP_READ, 0},
    [TMS_EVENT_ATOMIC_WRITE] = {TMS_OP_WRITE, 0},
    [TMS_EVENT_ATOMIC_UPDATE] = {TMS_OP_UPDATE, 0},
};

/* Looks each lock up once, and only if some locks are ignored. */
static int lock_state(struct tms_lower *lower, uint32_t lock, enum tms_lock_state *state)
{
    if (!TMS_RESERVE(&lower->memory, &lower->locks, &lower->lock_capacity, (size_t)lock + 1, 64)) {
        return TMS_ERR_MEMORY;
    }
    uint8_t *known = &lower->locks[lock];
    if (*known == TMS_LOCK_UNKNOWN) {
        const char *name = tms_name(lower->context, TMS_CLASS_LOCK, lock, NULL);
        *known = tms_suppressions_lock(lower->ignored, name) ? TMS_LOCK_IGNORED : TMS_LOCK_KEPT;
    }
    *state = (enum tms_lock_state) * known;
    return TMS_OK;
}

/* Turns an event whose lock is ignored into a STEP. TMS_OK or TMS_ERR_MEMORY. */
static int ignore_lock(struct tms_lower *lower, const struct tms_event *event, uint8_t *kind)
{
    enum tms_lock_state state = TMS_LOCK_KEPT;
    int code = TMS_OK;

    if (tms_event_class((enum tms_event_kind)event->kind) == TMS_CLASS_LOCK) {
        code = lock_state(lower, event->target, &state);
    }
    if (state == TMS_LOCK_IGNORED) {
        *kind = TMS_OP_STEP;
    }
    return code;
}

static int put_plain(struct tms_lower *lower, const struct tms_lower_thread *thread,
                     const struct tms_event *event, uint64_t number, uint8_t first)
{
    uint8_t in_block = thread->atomic > 0 ? TMS_OP_IN_BLOCK : 0;

    uint8_t kind = plain[event->kind].op;
    int code = lower->ignored != NULL ? ignore_lock(lower, event, &kind) : TMS_OK;

    lower->unary += in_block == 0;
    struct tms_op *op = put(lower, event, number, kind, first | in_block);
    if (event->order != TMS_ORDER_NONE) {
        op->flags |= (uint8_t)(event->order * TMS_OP_ORDER_UNIT);
        op->event_kind = (uint8_t)(event->kind - TMS_EVENT_ATOMIC_READ + TMS_EVENT_READ);
    }
    return code;
}

/* A thread was joined inside a block: ends its transaction, which can have no more events. */
static void end_joined(struct tms_lower *lower, const struct tms_event *event, uint64_t number)
{
    if (lower->threads[event->target].atomic == 0) {
        return;
    }
    struct tms_lower_thread *child = &lower->threads[event->target];
    struct tms_op *op = put(lower, event, number, TMS_OP_END, TMS_OP_IN_BLOCK | TMS_OP_SYNTHETIC);
    op->thread = event->target;
    op->target = outer_label(child);
    child->atomic = 0;
    child->block_count = 0;
}

int tms_lower_reserve(struct tms_lower *lower)
{
    size_t wanted = (size_t)tms_name_count(lower->context, TMS_CLASS_THREAD) + 1;
    bool room = TMS_RESERVE(&lower->memory, &lower->threads, &lower->thread_capacity, wanted, 16) &&
                TMS_RESERVE(&lower->memory, &lower->plain, &lower->plain_capacity, wanted, 16);

    return room ? TMS_OK : TMS_ERR_MEMORY;
}

static int forget_object(struct tms_lower *lower, const struct tms_event *event, uint64_t number)
{
    const struct tms_members *members = tms_object_fields_members(&lower->objects, event->target);

    if (members == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < members->count; i++) {
        if (lower->count >= TMS_LOWER_BATCH) {
            tms_lower_flush(lower);
        }
        put(lower, event, number, TMS_OP_FORGET, 0)->target = members->variable[i];
    }
    return TMS_OK;
}

_Static_assert(TMS_OP_DELAY - TMS_OP_CLEAR == TMS_EVENT_DELAY - TMS_EVENT_CLEAR, "same order");

_Static_assert(TMS_OP_ORDER / TMS_OP_ORDER_UNIT >= TMS_ORDER_COUNT - 1, "orders fit the flags");
_Static_assert(TMS_EVENT_ATOMIC_UPDATE - TMS_EVENT_ATOMIC_READ == TMS_EVENT_UPDATE - TMS_EVENT_READ,
               "atomic accesses are in the order of the plain ones");

/* Lowers an event that most engines ignore. */
static int lower_unchecked(struct tms_lower *lower, struct tms_lower_thread *thread,
                           const struct tms_event *event, uint64_t number)
{
    struct tms_block *opened;
    int code = TMS_OK;

    switch (event->kind) {
    case TMS_EVENT_CALL:
        code = push_block(lower, thread, event, &opened);
        if (code == TMS_OK && opened->candidate) {
            put(lower, event, number, TMS_OP_OPEN, 0);
        }
        break;
    case TMS_EVENT_RETURN:
        if (pop_block(thread, innermost(thread, event)).candidate) {
            put(lower, event, number, TMS_OP_CLOSE, 0);
        }
        break;
    case TMS_EVENT_FENCE:
        put(lower, event, number, TMS_OP_FENCE, (uint8_t)(event->order * TMS_OP_ORDER_UNIT));
        break;
    case TMS_EVENT_SEND:
    case TMS_EVENT_RECEIVE:
        put(lower, event, number, event->kind == TMS_EVENT_SEND ? TMS_OP_SEND : TMS_OP_RECEIVE, 0);
        break;
    default:
        put(lower, event, number, (uint8_t)(event->kind - TMS_EVENT_CLEAR + TMS_OP_CLEAR), 0);
        break;
    }
    if (lower->count >= lower->batch) {
        tms_lower_flush(lower);
    }
    return code;
}

static int lower_one(struct tms_lower *lower, struct tms_lower_thread *thread,
                     const struct tms_event *event, uint64_t number, uint8_t first)
{
    switch (event->kind) {
    case TMS_EVENT_BEGIN:
    case TMS_EVENT_ENTER:
        return open_block(lower, thread, event, number, first);
    case TMS_EVENT_END:
    case TMS_EVENT_EXIT:
        close_block(lower, thread, event, number);
        return TMS_OK;
    case TMS_EVENT_DEMOTE:
        demote_block(lower, thread, event, number);
        return TMS_OK;
    case TMS_EVENT_JOIN:
        end_joined(lower, event, number);
        lower->plain[event->target] = 0;
        break;
    default:
        break;
    }
    int code = put_plain(lower, thread, event, number, first);
    if (code == TMS_OK && (event->kind == TMS_EVENT_ALLOC || event->kind == TMS_EVENT_FREE)) {
        return forget_object(lower, event, number);
    }
    return code;
}

/* Is this the end of the last atomic block? Then a pending split begins no new transaction. */
static bool closes_transaction(const struct tms_lower_thread *thread, const struct tms_event *event)
{
    bool closes = event->kind == TMS_EVENT_END || event->kind == TMS_EVENT_EXIT ||
                  event->kind == TMS_EVENT_DEMOTE;

    return closes && thread->atomic == 1 && thread->blocks[innermost(thread, event)].atomic;
}

int tms_lower_event(struct tms_lower *lower, const struct tms_event *event, uint64_t number,
                    int validity)
{
    struct tms_lower_thread *thread = &lower->threads[event->thread];

    if (tms_is_unchecked(event->kind)) {
        return lower_unchecked(lower, thread, event, number);
    }
    if (thread->split_next || (plain[event->kind].split & lower->split)) {
        if (thread->atomic > 0 && !closes_transaction(thread, event)) {
            put_split(lower, thread, event, number);
        }
        thread->split_next = false;
    }
    uint8_t first = validity == TMS_VALID_FIRST ? TMS_OP_FIRST : 0;
    int code = lower_one(lower, thread, event, number, first);
    if (event->kind == TMS_EVENT_FORK && (lower->split & TMS_SPLIT_FORK)) {
        thread->split_next = thread->atomic > 0;
    }
    lower->plain[event->thread] =
        (thread->split_next ? 0 : TMS_PLAIN) | (thread->atomic > 0 ? TMS_OP_IN_BLOCK : 0);
    if (lower->count >= lower->batch) {
        tms_lower_flush(lower);
    }
    return code;
}
