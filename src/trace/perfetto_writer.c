/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as a timeline in the Trace Event Format of Chromium (JSON), which Perfetto and
 * chrome://tracing display.
 *
 * The process "threads" has a track for each thread: blocks and functions are slices, inside each
 * other as they were nested, and any other event is a slice as long as one event. The process
 * "locks" has a track for each lock, with a slice for each time that it was held, named after the
 * thread; shared holds overlap, so they are asynchronous slices. Arrows go from a fork to the first
 * event of the new thread, and from the last event of a thread to the join.
 *
 * A trace has no clock: `ts` is the number of the event, in units that a viewer calls microseconds.
 * Event n takes the time from n to n + 1, so what ends with it ends at n + 1.
 *
 * Memory is bounded by the threads and locks that there are and by the shared locks held at a time.
 * What is still open at the end is closed there, so that the slices of each track are balanced in
 * any trace, well-formed or not.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/format.h"

#define LEAST       16
#define PIECE_SIZE  256
#define PID_THREADS 1
#define PID_LOCKS   2

/* How an event appears on the timeline. */
enum shape {
    SHAPE_STEP, /* a slice of its own */
    SHAPE_OPEN,
    SHAPE_CLOSE,
    SHAPE_TAKE, /* a step of the thread, and a slice of the lock begins */
    SHAPE_GIVE,
    SHAPE_TAKE_SHARED,
    SHAPE_GIVE_SHARED,
};

static const struct {
    const char *category, *word;
    enum shape shape;
} kinds[TMS_EVENT_COUNT] = {
    [TMS_EVENT_BEGIN] = {"block", "block", SHAPE_OPEN},
    [TMS_EVENT_END] = {"block", "end", SHAPE_CLOSE},
    [TMS_EVENT_READ] = {"access", "read", SHAPE_STEP},
    [TMS_EVENT_WRITE] = {"access", "write", SHAPE_STEP},
    [TMS_EVENT_UPDATE] = {"access", "update", SHAPE_STEP},
    [TMS_EVENT_ACQUIRE] = {"lock", "acquire", SHAPE_TAKE},
    [TMS_EVENT_RELEASE] = {"lock", "release", SHAPE_GIVE},
    [TMS_EVENT_SHARED_ACQUIRE] = {"lock", "acquire shared", SHAPE_TAKE_SHARED},
    [TMS_EVENT_SHARED_RELEASE] = {"lock", "release shared", SHAPE_GIVE_SHARED},
    [TMS_EVENT_FORK] = {"thread", "fork", SHAPE_STEP},
    [TMS_EVENT_JOIN] = {"thread", "join", SHAPE_STEP},
    [TMS_EVENT_WAIT] = {"sync", "wait for", SHAPE_STEP},
    [TMS_EVENT_ARRIVE] = {"sync", "arrive at", SHAPE_STEP},
    [TMS_EVENT_DEPART] = {"sync", "depart from", SHAPE_STEP},
    [TMS_EVENT_ESCAPE] = {"object", "escape", SHAPE_STEP},
    [TMS_EVENT_ALLOC] = {"object", "allocate", SHAPE_STEP},
    [TMS_EVENT_FREE] = {"object", "free", SHAPE_STEP},
    [TMS_EVENT_CALL] = {"function", "function", SHAPE_OPEN},
    [TMS_EVENT_RETURN] = {"function", "return", SHAPE_CLOSE},
    [TMS_EVENT_DEMOTE] = {"block", "not atomic from here:", SHAPE_STEP},
    [TMS_EVENT_CLEAR] = {"sync", "rendezvous", SHAPE_STEP},
    [TMS_EVENT_RETRY] = {"access", "retry", SHAPE_STEP},
    [TMS_EVENT_DELAY] = {"sync", "delayed by tmesis", SHAPE_STEP},
    [TMS_EVENT_ATOMIC_READ] = {"access", "atomic read", SHAPE_STEP},
    [TMS_EVENT_ATOMIC_WRITE] = {"access", "atomic write", SHAPE_STEP},
    [TMS_EVENT_ATOMIC_UPDATE] = {"access", "atomic update", SHAPE_STEP},
    [TMS_EVENT_FENCE] = {"sync", "fence", SHAPE_STEP},
    [TMS_EVENT_SEND] = {"sync", "send", SHAPE_STEP},
    [TMS_EVENT_RECEIVE] = {"sync", "receive", SHAPE_STEP},
    [TMS_EVENT_ENTER] = {"function", "function", SHAPE_OPEN},
    [TMS_EVENT_EXIT] = {"function", "exit", SHAPE_CLOSE},
};

struct thread {
    uint64_t last;      /* the last event that was written; 0: none */
    uint64_t depth;     /* slices that are open */
    uint64_t forked_at; /* the event; 0: not forked, or its arrow is drawn */
    uint32_t forked_by;
};

struct lock {
    uint64_t depth;
    bool named;
};

struct shared_hold {
    uint64_t id;
    uint32_t thread, lock;
};

struct perfetto {
    struct thread *threads;
    struct lock *locks;
    struct shared_hold *shared;
    size_t thread_capacity, lock_capacity, shared_count, shared_capacity;
    uint64_t ids; /* ids used for arrows and shared holds */
    int code;     /* the first error */
};

/* ---- text ------------------------------------------------------------------------------- */

static bool put_bytes(void *user, const char *text, size_t length)
{
    struct tms_writer *writer = user;
    struct perfetto *perfetto = writer->state;
    int code = tms_output_write(writer->output, text, length);

    perfetto->code = perfetto->code == TMS_OK ? code : perfetto->code;
    return code == TMS_OK;
}

__attribute__((format(printf, 2, 3))) static void put(struct tms_writer *writer, const char *format,
                                                      ...)
{
    char piece[PIECE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof(piece), format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < sizeof(piece));
    put_bytes(writer, piece, (size_t)length);
}

static void put_text(struct tms_writer *writer, const char *text)
{
    tms_json_string(text, strlen(text), put_bytes, writer);
}

/* A string that has begun already: passes on all but the opening quote. */
struct rest {
    struct tms_writer *writer;
    bool begun;
};

static bool put_rest(void *user, const char *text, size_t length)
{
    struct rest *rest = user;
    size_t skipped = rest->begun || length == 0 ? 0 : 1;

    rest->begun = rest->begun || length > 0;
    return put_bytes(rest->writer, text + skipped, length - skipped);
}

/* The name of something, after a word if that is not empty; the word alone if it has no name. */
static void put_title(struct tms_writer *writer, const char *word, enum tms_class cls, uint32_t id)
{
    struct rest rest = {.writer = writer};
    const struct tms_text *name = &writer->context->names[cls].texts[id];

    if (id == 0) {
        put_text(writer, word);
        return;
    }
    put(writer, "\"%s%s", word, *word != '\0' ? " " : "");
    tms_json_string(name->text, name->length, put_rest, &rest);
}

/* ---- parts of an event ------------------------------------------------------------------ */

static void put_head(struct tms_writer *writer, const char *phase, int pid, uint32_t tid,
                     uint64_t time)
{
    put(writer, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64, phase, pid, tid,
        time);
}

static void put_category(struct tms_writer *writer, const char *category)
{
    put(writer, ",\"cat\":\"%s\",\"name\":", category);
}

static void put_arguments(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    char buffer[TMS_NUMBER_SIZE];

    put(writer, ",\"args\":{\"event\":%" PRIu64, number);
    if (event->location != 0) {
        put(writer, ",\"location\":");
        put_text(writer, tms_name(writer->context, TMS_CLASS_LOCATION, event->location, buffer));
    }
    if (event->order != TMS_ORDER_NONE) {
        put(writer, ",\"order\":\"%s\"", tms_order_text(event->order));
    }
    put(writer, "}}");
}

static void put_end(struct tms_writer *writer, int pid, uint32_t tid, uint64_t time)
{
    put_head(writer, "E", pid, tid, time);
    put(writer, "}");
}

/* The name of a track. */
static void put_track(struct tms_writer *writer, int pid, const char *word, enum tms_class cls,
                      uint32_t id)
{
    put(writer, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32 ",\"name\":\"thread_name\"", pid,
        id);
    put(writer, ",\"args\":{\"name\":");
    put_title(writer, word, cls, id);
    put(writer,
        "}},\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
        ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
        pid, id, id);
}

/*
 * Draws an arrow from the slice of one thread at an event to that of another thread at a later
 * event.
 */
static void put_arrow(struct tms_writer *writer, const char *name, uint32_t from, uint64_t first,
                      uint32_t to, uint64_t second)
{
    struct perfetto *perfetto = writer->state;
    uint64_t id = ++perfetto->ids;

    put_head(writer, "s", PID_THREADS, from, first);
    put(writer, ",\"id\":%" PRIu64 ",\"cat\":\"thread\",\"name\":\"%s\"}", id, name);
    put_head(writer, "f", PID_THREADS, to, second);
    put(writer, ",\"bp\":\"e\",\"id\":%" PRIu64 ",\"cat\":\"thread\",\"name\":\"%s\"}", id, name);
}

/* ---- locks ------------------------------------------------------------------------------ */

static void take_lock(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct perfetto *perfetto = writer->state;

    perfetto->locks[event->target].depth++;
    put_head(writer, "B", PID_LOCKS, event->target, number);
    put_category(writer, "lock");
    put_title(writer, "", TMS_CLASS_THREAD, event->thread);
    put_arguments(writer, event, number);
}

static void give_lock(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct perfetto *perfetto = writer->state;
    struct lock *lock = &perfetto->locks[event->target];

    if (lock->depth > 0) {
        lock->depth--;
        put_end(writer, PID_LOCKS, event->target, number + 1);
    }
}

static void put_shared(struct tms_writer *writer, const char *phase, const struct shared_hold *hold,
                       uint64_t time)
{
    put_head(writer, phase, PID_LOCKS, hold->lock, time);
    put(writer, ",\"id\":%" PRIu64, hold->id);
    put_category(writer, "lock");
    put_title(writer, "shared", TMS_CLASS_LOCK, hold->lock);
    put(writer, ",\"args\":{\"thread\":");
    put_title(writer, "", TMS_CLASS_THREAD, hold->thread);
    put(writer, "}}");
}

static int take_shared(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct perfetto *perfetto = writer->state;

    if (!TMS_RESERVE(&writer->context->memory, &perfetto->shared, &perfetto->shared_capacity,
                     perfetto->shared_count + 1, LEAST)) {
        return tms_fail_memory(writer->context);
    }
    struct shared_hold *hold = &perfetto->shared[perfetto->shared_count++];
    *hold = (struct shared_hold){++perfetto->ids, event->thread, event->target};
    put_shared(writer, "b", hold, number);
    return TMS_OK;
}

/* The last one that the thread has taken. */
static void give_shared(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct perfetto *perfetto = writer->state;

    for (size_t i = perfetto->shared_count; i-- > 0;) {
        struct shared_hold *hold = &perfetto->shared[i];
        if (hold->thread == event->thread && hold->lock == event->target) {
            put_shared(writer, "e", hold, number + 1);
            *hold = perfetto->shared[--perfetto->shared_count];
            return;
        }
    }
}

static int write_lock(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct perfetto *perfetto = writer->state;
    enum shape shape = kinds[event->kind].shape;

    if (!TMS_RESERVE(&writer->context->memory, &perfetto->locks, &perfetto->lock_capacity,
                     (size_t)event->target + 1, LEAST)) {
        return tms_fail_memory(writer->context);
    }
    if (!perfetto->locks[event->target].named) {
        perfetto->locks[event->target].named = true;
        put_track(writer, PID_LOCKS, "", TMS_CLASS_LOCK, event->target);
    }
    if (shape == SHAPE_TAKE_SHARED) {
        return take_shared(writer, event, number);
    }
    (shape == SHAPE_TAKE   ? take_lock
     : shape == SHAPE_GIVE ? give_lock
                           : give_shared)(writer, event, number);
    return TMS_OK;
}

/* ---- threads ---------------------------------------------------------------------------- */

/* NULL if out of memory; lives until the next call. */
static struct thread *find_thread(struct tms_writer *writer, uint32_t id)
{
    struct perfetto *perfetto = writer->state;

    return TMS_RESERVE(&writer->context->memory, &perfetto->threads, &perfetto->thread_capacity,
                       (size_t)id + 1, LEAST)
               ? &perfetto->threads[id]
               : NULL;
}

static void put_step(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    put_head(writer, "X", PID_THREADS, event->thread, number);
    put(writer, ",\"dur\":1");
    put_category(writer, kinds[event->kind].category);
    put_title(writer, kinds[event->kind].word, tms_event_class(event->kind), event->target);
    put_arguments(writer, event, number);
}

static void put_slice(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    put_head(writer, "B", PID_THREADS, event->thread, number);
    put_category(writer, kinds[event->kind].category);
    put_title(writer, event->target == 0 ? kinds[event->kind].word : "", TMS_CLASS_LABEL,
              event->target);
    put_arguments(writer, event, number);
}

/* Writes an end without a begin as a step, since it closes nothing. */
static void put_on_thread(struct tms_writer *writer, struct thread *thread,
                          const struct tms_event *event, uint64_t number)
{
    enum shape shape = kinds[event->kind].shape;

    if (shape == SHAPE_OPEN) {
        thread->depth++;
        put_slice(writer, event, number);
    } else if (shape == SHAPE_CLOSE && thread->depth > 0) {
        thread->depth--;
        put_end(writer, PID_THREADS, event->thread, number + 1);
    } else {
        put_step(writer, event, number);
    }
}

/* Draws the arrow to a forked thread at its first event, when both ends are known. */
static void draw_fork(struct tms_writer *writer, struct thread *thread,
                      const struct tms_event *event, uint64_t number)
{
    if (thread->forked_at != 0) {
        put_arrow(writer, "fork", thread->forked_by, thread->forked_at, event->thread, number);
        thread->forked_at = 0;
    }
}

/* A fork is kept for the first event of the new thread; a join has its arrow at once. */
static int note_other(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct thread *other = find_thread(writer, event->target);

    if (other == NULL) {
        return tms_fail_memory(writer->context);
    }
    if (event->kind == TMS_EVENT_FORK && other->last == 0) {
        other->forked_at = number;
        other->forked_by = event->thread;
    } else if (event->kind == TMS_EVENT_JOIN && other->last != 0 &&
               event->target != event->thread) {
        put_arrow(writer, "join", event->target, other->last, event->thread, number);
    }
    return TMS_OK;
}

static int write_event(struct tms_writer *writer, const struct tms_event *event, uint64_t number)
{
    struct thread *thread = find_thread(writer, event->thread);

    if (thread == NULL) {
        return tms_fail_memory(writer->context);
    }
    if (thread->last == 0) {
        put_track(writer, PID_THREADS, "", TMS_CLASS_THREAD, event->thread);
    }
    put_on_thread(writer, thread, event, number);
    draw_fork(writer, thread, event, number);
    thread->last = number;
    if (event->kind == TMS_EVENT_FORK || event->kind == TMS_EVENT_JOIN) {
        return note_other(writer, event, number);
    }
    return kinds[event->kind].shape >= SHAPE_TAKE ? write_lock(writer, event, number) : TMS_OK;
}

static bool is_access(const struct tms_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_VARIABLE;
}

static int write_events(struct tms_writer *writer, const struct tms_event *events, size_t count)
{
    struct perfetto *perfetto = writer->state;

    for (size_t i = 0; i < count && perfetto->code == TMS_OK; i++) {
        if (!writer->no_accesses || !is_access(&events[i])) {
            int code = write_event(writer, &events[i], writer->events + i + 1);
            perfetto->code = perfetto->code == TMS_OK ? code : perfetto->code;
        }
    }
    return perfetto->code;
}

/* ---- the document ----------------------------------------------------------------------- */

static int create_writer(struct tms_writer *writer)
{
    const struct perfetto *perfetto = writer->state;

    put(writer,
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"threads\"}}",
        PID_THREADS);
    put(writer,
        ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"locks\"}}",
        PID_LOCKS);
    return perfetto->code;
}

/* Closes all open slices at the end of the trace. */
static void close_all(struct tms_writer *writer)
{
    struct perfetto *perfetto = writer->state;
    uint64_t end = writer->events + 1;

    for (size_t id = 0; id < perfetto->thread_capacity; id++) {
        for (; perfetto->threads[id].depth > 0; perfetto->threads[id].depth--) {
            put_end(writer, PID_THREADS, (uint32_t)id, end);
        }
    }
    for (size_t id = 0; id < perfetto->lock_capacity; id++) {
        for (; perfetto->locks[id].depth > 0; perfetto->locks[id].depth--) {
            put_end(writer, PID_LOCKS, (uint32_t)id, end);
        }
    }
    for (size_t i = 0; i < perfetto->shared_count; i++) {
        put_shared(writer, "e", &perfetto->shared[i], end);
    }
}

static int finish_writer(struct tms_writer *writer)
{
    const struct perfetto *perfetto = writer->state;

    close_all(writer);
    put(writer,
        "\n],\"otherData\":{\"tool\":\"tmesis %s\",\"clock\":\"ts is the number of an event in the "
        "trace, not a time\",\"events\":%" PRIu64,
        tms_version(), writer->events);
    if (writer->loss[0] != '\0') {
        put(writer, ",\"incomplete\":");
        put_text(writer, writer->loss);
    }
    put(writer, "}}\n");
    return perfetto->code;
}

static void destroy_writer(struct tms_writer *writer)
{
    struct perfetto *perfetto = writer->state;
    struct tms_memory *memory = &writer->context->memory;

    tms_release(memory, perfetto->threads, perfetto->thread_capacity, sizeof(*perfetto->threads));
    tms_release(memory, perfetto->locks, perfetto->lock_capacity, sizeof(*perfetto->locks));
    tms_release(memory, perfetto->shared, perfetto->shared_capacity, sizeof(*perfetto->shared));
}

const struct tms_format tms_format_perfetto = {
    .info = {.name = "perfetto",
             .extension = ".perfetto.json",
             .summary = "Trace Event Format, JSON for Perfetto and chrome://tracing",
             .writes = true},
    .omits_accesses = true,
    .writer_size = sizeof(struct perfetto),
    .create = create_writer,
    .write = write_events,
    .finish = finish_writer,
    .destroy = destroy_writer,
};
