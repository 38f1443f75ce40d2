/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine `judge`: feeds the operations of a trace to the core, and supplies names.
 *
 * It may run on its own thread while the reader adds names, so it looks up texts with
 * tms_names_text_concurrent.
 */
#include "judge/judge_engine.h"

#include <assert.h>
#include <string.h>

#include "judge/conclude.h"
#include "spec/identity.h"
#include "spec/lower.h"

/* ---- names ---------------------------------------------------------------------------- */

static bool make_room(struct tms_judge_engine *engine, const char *name)
{
    size_t wanted = strlen(name) + 1;

    if (!TMS_RESERVE(&engine->host->memory, &engine->text, &engine->text_capacity, wanted, 256)) {
        engine->core.failed = true;
        return false;
    }
    return true;
}

/* The id of a text that is cut out of a name; an empty text gets one as well. */
static uint32_t id_of(struct tms_judge_engine *engine, struct tms_names *names, const char *name,
                      size_t cut(const char *, char *))
{
    size_t length = make_room(engine, name) ? cut(name, engine->text) : 0;
    int64_t id = engine->core.failed ? -1
                 : length > 0        ? tms_names_intern(names, engine->text, length)
                                     : tms_names_intern(names, "?", 1);

    assert(length < engine->text_capacity || engine->core.failed);
    if (id < 0) {
        engine->core.failed = true;
    }
    return id > 0 ? (uint32_t)id : 1;
}

uint32_t tms_judge_function_id(struct tms_judge_engine *engine, const char *label)
{
    return id_of(engine, &engine->functions, label, tms_function_text);
}

uint32_t tms_judge_object_id(struct tms_judge_engine *engine, const char *variable)
{
    return id_of(engine, &engine->objects, variable, tms_object_text);
}

uint32_t tms_judge_member_id(struct tms_judge_engine *engine, const char *variable)
{
    return id_of(engine, &engine->members, variable, tms_member_text);
}

static const char *name_of(const struct tms_judge_engine *engine, enum tms_class cls, uint32_t id)
{
    return tms_names_text_concurrent(&engine->host->context->names[cls], id);
}

static uint32_t function_of(void *user, uint32_t label)
{
    return tms_judge_function_id(user, name_of(user, TMS_CLASS_LABEL, label));
}

static uint32_t object_of(void *user, uint32_t variable)
{
    return tms_judge_object_id(user, name_of(user, TMS_CLASS_VARIABLE, variable));
}

static bool is_data(void *user, uint32_t variable)
{
    return tms_is_data(name_of(user, TMS_CLASS_VARIABLE, variable));
}

/* ---- operations ----------------------------------------------------------------------- */

static uint8_t source_of(uint8_t event_kind)
{
    return tms_block_source(&(struct tms_event){.kind = event_kind});
}

/* Thread of an operation; NULL if out of memory, and then the batch ends. */
static struct tms_judge_thread *thread_of(struct tms_judge *core, uint32_t id)
{
    struct tms_judge_thread *t = tms_judge_thread_at(&core->threads, id);

    return t != NULL ? t : tms_judge_thread(core, id);
}

static void open_block(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_open(core, t, op->target, source_of(op->event_kind), op->event, op->location);
}

static void close_block(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_close(core, t, source_of(op->event_kind), op->event);
}

/* `judge` ignores splits at a wait or a fork. */
static void on_begin(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    if (!(op->flags & TMS_OP_SYNTHETIC)) {
        open_block(core, t, op);
    }
}

static void on_end(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    if (!(op->flags & TMS_OP_SYNTHETIC) && op->event_kind != TMS_EVENT_DEMOTE) {
        close_block(core, t, op);
    }
}

static void on_open(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    open_block(core, t, op);
}

static void on_close(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    close_block(core, t, op);
}

static void on_demote(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_change(t, TMS_FROM_BEGIN, TMS_FROM_CALL);
}

_Static_assert(TMS_OP_UPDATE - TMS_OP_READ == TMS_JUDGE_U - TMS_JUDGE_R &&
                   TMS_OP_WRITE - TMS_OP_READ == TMS_JUDGE_W - TMS_JUDGE_R,
               "accesses are in the same order");

static void on_access(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    bool atomic = op->kind == TMS_OP_UPDATE || (op->flags & TMS_OP_ORDER) != 0;

    tms_judge_access(core, t, op->target, (uint8_t)(op->kind - TMS_OP_READ + TMS_JUDGE_R), atomic,
                     op->event, op->location);
}

static void on_acquire(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_acquire(core, t, op->target, op->event, op->location);
}

static void on_release(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_release(core, t, op->target, op->event, op->location,
                      op->kind == TMS_OP_SHARED_RELEASE);
}

static void on_fork(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_synchronise(t, op->event);
    if (core->splits_at_fork) {
        tms_judge_rendezvous(core, t, op->event);
    }
}

static void on_join(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_synchronise(t, op->event);
    tms_judge_rendezvous(core, t, op->event);
    struct tms_judge_thread *child = thread_of(core, op->target);
    if (child != NULL) {
        tms_judge_close_all(core, child, op->event);
    }
}

static void on_arrive(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_synchronise(t, op->event);
    tms_judge_rendezvous(core, t, op->event);
}

static void on_depart(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_other(t, op->event);
    tms_judge_rendezvous(core, t, op->event);
}

/* Blocks that are not transactions also arrive as STEPs, which are skipped here. */
static void on_step(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    if (op->event_kind == TMS_EVENT_WAIT) {
        tms_judge_wait(t);
        on_arrive(core, t, op);
    } else if (op->event_kind == TMS_EVENT_ALLOC || op->event_kind == TMS_EVENT_FREE) {
        tms_judge_other(t, op->event);
    }
}

static void on_escape(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_other(t, op->event);
}

static void on_forget(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_clear_variable(core, op->target);
}

static void on_clear(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_rendezvous(core, t, op->event);
}

static void on_retry(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_retry(core, t, op->target, op->event);
}

static void on_delay(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    tms_judge_delay(t);
}

static void on_fence(struct tms_judge *core, struct tms_judge_thread *t, const struct tms_op *op)
{
    (void)core;
    tms_judge_end_updates(t, op->event);
}

static void (*const handlers[TMS_OP_COUNT])(struct tms_judge *core, struct tms_judge_thread *t,
                                            const struct tms_op *op) = {
    [TMS_OP_BEGIN] = on_begin,
    [TMS_OP_END] = on_end,
    [TMS_OP_NEST] = on_begin,
    [TMS_OP_UNNEST] = on_end,
    [TMS_OP_READ] = on_access,
    [TMS_OP_WRITE] = on_access,
    [TMS_OP_UPDATE] = on_access,
    [TMS_OP_ACQUIRE] = on_acquire,
    [TMS_OP_RELEASE] = on_release,
    [TMS_OP_SHARED_ACQUIRE] = on_acquire,
    [TMS_OP_SHARED_RELEASE] = on_release,
    [TMS_OP_FORK] = on_fork,
    [TMS_OP_JOIN] = on_join,
    [TMS_OP_ARRIVE] = on_arrive,
    [TMS_OP_DEPART] = on_depart,
    [TMS_OP_STEP] = on_step,
    [TMS_OP_ESCAPE] = on_escape,
    [TMS_OP_FORGET] = on_forget,
    [TMS_OP_OPEN] = on_open,
    [TMS_OP_CLOSE] = on_close,
    [TMS_OP_DEMOTE] = on_demote,
    [TMS_OP_CLEAR] = on_clear,
    [TMS_OP_RETRY] = on_retry,
    [TMS_OP_DELAY] = on_delay,
    [TMS_OP_FENCE] = on_fence,
};

static void check_memory(struct tms_judge_engine *engine)
{
    if (engine->core.failed) {
        tms_host_fail(engine->host, TMS_ERR_MEMORY);
    }
}

static void take_op(struct tms_judge *core, const struct tms_op *op)
{
    struct tms_judge_thread *t = thread_of(core, op->thread);

    if (t != NULL) {
        handlers[op->kind](core, t, op);
    }
}

#define AHEAD 16
_Static_assert(AHEAD <= TMS_OPS_AHEAD, "what is prefetched can be read");

static void batch(void *state, const struct tms_op *ops, size_t count)
{
    struct tms_judge_engine *engine = state;
    struct tms_judge *core = &engine->core;

    for (size_t i = 0; i < count && !core->failed && !engine->elsewhere; i++) {
        if (ops[i + AHEAD].target < core->cell_capacity) {
            __builtin_prefetch(&core->cells[ops[i + AHEAD].target]);
        }
        if (handlers[ops[i].kind] != NULL) {
            take_op(core, &ops[i]);
        }
    }
    check_memory(engine);
}

/* ---- the engine ----------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct tms_judge_engine *engine = state;
    const struct tms_judge_port port = {
        .function_of = function_of, .object_of = object_of, .is_data = is_data, .user = engine};
    struct tms_memory *memory = &host->memory;

    engine->host = host;
    tms_judge_init(&engine->core, memory, &port);
    engine->core.filters = engine->core.learns = true;
    engine->core.splits_at_fork = (host->settings->split & TMS_SPLIT_FORK) != 0;
    if (tms_names_init(&engine->functions, memory) != TMS_OK ||
        tms_names_init(&engine->objects, memory) != TMS_OK ||
        tms_names_init(&engine->members, memory) != TMS_OK) {
        return TMS_ERR_MEMORY;
    }
    return TMS_OK;
}

static void finish(void *state)
{
    struct tms_judge_engine *engine = state;

    tms_judge_finish(&engine->core, engine->host->last_event);
    check_memory(engine);
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_judge_engine *engine = state;
    const struct tms_judge *core = &engine->core;
    const struct tms_counter found[] = {
        {"patterns", "occurrences of a pattern", core->occurrences},
    };
    const struct tms_counter kept[] = {
        {"accesses", "reads, writes and updates of data", core->accesses},
        {"takeovers", "accesses to a variable that another thread had accessed last", core->met},
        {"records", "most pairs of a thread and a variable that it shares", core->records.count},
        {"activations", "most activations that were kept", core->nodes.count},
    };

    TMS_COUNTERS_PUT(counters, found);
    if (!engine->elsewhere) {
        TMS_COUNTERS_PUT(counters, kept);
    }
}

static void destroy(void *state)
{
    struct tms_judge_engine *engine = state;
    struct tms_memory *memory = &engine->host->memory;

    tms_judge_clear(&engine->core);
    tms_names_clear(&engine->functions);
    tms_names_clear(&engine->objects);
    tms_names_clear(&engine->members);
    tms_arena_clear(&engine->lists, memory);
    tms_release(memory, engine->text, engine->text_capacity, 1);
    tms_release(memory, engine->turns, engine->turn_capacity, sizeof(*engine->turns));
    tms_release(memory, engine->findings, engine->finding_capacity, sizeof(*engine->findings));
}

static struct tms_finding *findings(const void *state)
{
    const struct tms_judge_engine *engine = state;

    return engine->findings;
}

const struct tms_engine tms_engine_judge = {
    .info =
        {
            .name = "judge",
            .summary = "which data was affected by blocks that were cut apart",
            .paper = "docs/user/judge.md",
            .guarantee =
                "every pattern is an observed cycle of the block over accesses to data. Its level "
                "is its severity: an error or a warning is likely a bug, a note is not. Without "
                "a finding, no data was affected by one of the known patterns.",
            .reports = "at the end",
            .time = "O(1) per access, O(k) where threads meet (k: threads that use the variable)",
            .memory = "64 bytes per variable, 270 per thread that shares it",
            .flags = TMS_ENGINE_WITNESS | TMS_ENGINE_BOUNDED,
            .found = TMS_VERDICT_AFFECTED,
            .clean = TMS_VERDICT_UNAFFECTED,
        },
    .state_size = sizeof(struct tms_judge_engine),
    .concurrent = true,
    .create = create,
    .batch = batch,
    .conclude = tms_judge_conclude,
    .findings = findings,
    .resolve = tms_judge_resolve,
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
