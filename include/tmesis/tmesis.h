/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis: finds code that was meant to be atomic and was cut apart by another thread.
 *
 * This is the one public header of libtmesis. The flow is
 *
 *     context ── names, settings that everything shares, the last error
 *        ├── reader    a trace in any known format, as batches of events
 *        ├── writer    the same events out again
 *        └── analysis  events in, one result per engine out
 *
 * Conventions
 * - Functions that can fail return TMS_OK (0) or a negative code of TMS_ERRORS; the sentence
 *   for a person is tms_error(context). The library never prints and never exits.
 * - Objects are opaque and belong to the caller until their _free/_close; they must not
 *   outlive their context. Strings returned belong to the library, and live as long as the
 *   object they were asked of, unless stated otherwise.
 * - There are no globals: contexts are independent, and different threads may use different
 *   contexts at the same time. One context and all that belongs to it is for one thread at a
 *   time.
 * - Costs are stated where they are not constant.
 */
#ifndef TMESIS_TMESIS_H
#define TMESIS_TMESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* The library hides everything that is not declared here. */
#pragma GCC visibility push(default)

#define TMS_VERSION_MAJOR 0
#define TMS_VERSION_MINOR 1
#define TMS_VERSION_PATCH 0

/* The version of the library that is linked, "0.1.0". */
const char *tms_version(void);

/* ---- errors --------------------------------------------------------------------------- */

/* X(name, code, meaning) */
#define TMS_ERRORS(X)                                                                              \
    X(OK, 0, "no error")                                                                           \
    X(ERR_MEMORY, -1, "out of memory")                                                             \
    X(ERR_IO, -2, "a file could not be opened, read or written")                                   \
    X(ERR_SYNTAX, -3, "the input is not of the format it should have")                             \
    X(ERR_MALFORMED, -4, "the events do not make a well-formed trace")                             \
    X(ERR_FORMAT, -5, "the format is unknown, or can't do what was asked")                         \
    X(ERR_ARGUMENT, -6, "an argument is out of its documented range")                              \
    X(ERR_LIMIT, -7, "a limit of this implementation was reached")                                 \
    X(ERR_TIME, -8, "the time that was allowed ran out")

enum tms_code {
#define X(name, code, meaning) TMS_##name = code,
    TMS_ERRORS(X)
#undef X
};

/* The meaning of a code, never NULL. */
const char *tms_strerror(int code);

/* ---- context -------------------------------------------------------------------------- */

struct tms_context;

/*
 * Called for what is wrong but does not end the work: skipped events of a lenient run, a
 * truncated file, a pattern that matches nothing. `message` is one sentence without a line
 * end, and lives during the call only.
 */
typedef void tms_complain(void *user, const char *message);

/* NULL when memory is short. `complain` may be NULL. */
struct tms_context *tms_context_new(tms_complain *complain, void *user);
void tms_context_free(struct tms_context *context);

/* The last failure as a sentence, "" if there was none; overwritten by the next failure. */
const char *tms_error(const struct tms_context *context);

/* ---- names ---------------------------------------------------------------------------- */

/* What names stand for. Each class counts its ids 1, 2, 3 … by itself; 0 is "no name". */
#define TMS_CLASSES(X)                                                                             \
    X(NONE, "nothing")                                                                             \
    X(THREAD, "thread")                                                                            \
    X(VARIABLE, "variable")                                                                        \
    X(LOCK, "lock")                                                                                \
    X(LABEL, "label") /* of blocks and functions */                                                \
    X(CONDITION, "condition variable")                                                             \
    X(BARRIER, "barrier")                                                                          \
    X(OBJECT, "object") /* of alloc, free and escape */                                            \
    X(CHANNEL, "channel")                                                                          \
    X(LOCATION, "location")                                                                        \
    X(STACK, "call stack") /* in findings only, see struct tms_step */

enum tms_class {
#define X(name, text) TMS_CLASS_##name,
    TMS_CLASSES(X)
#undef X
        TMS_CLASS_COUNT
};

const char *tms_class_text(enum tms_class cls);

/*
 * The id of a name, made if it is new: > 0, or a negative code. Names are not empty. A
 * location that is a plain decimal number below 2^31 ("17", not "017") takes no memory: its
 * id is TMS_LOCATION_NUMBER + 17.
 */
int64_t tms_intern(struct tms_context *context, enum tms_class cls, const char *name,
                   size_t length);

/*
 * The same for a name that the caller knows to be new: it is not looked for, which is most of the
 * cost where there are millions. If it is not new after all, both of its ids have this name.
 */
int64_t tms_intern_new(struct tms_context *context, enum tms_class cls, const char *name,
                       size_t length);

#define TMS_LOCATION_NUMBER 0x80000000u

/*
 * The name of an id, "" for 0 and for ids never given out. A number location has no
 * stored text: it is written into `buffer` (TMS_NUMBER_SIZE bytes), which may be NULL when
 * cls is not TMS_CLASS_LOCATION.
 */
#define TMS_NUMBER_SIZE 12
const char *tms_name(const struct tms_context *context, enum tms_class cls, uint32_t id,
                     char *buffer);

/* How many ids of a class were given out. */
uint32_t tms_name_count(const struct tms_context *context, enum tms_class cls);

/* ---- events --------------------------------------------------------------------------- */

/*
 * X(name, text in traces, class of the operand). begin and end may do without operand, clear,
 * delay and fence have none. From call to delay they are for `judge` alone: to all others they are
 * no events. Atomic accesses and fences have a memory order (TMS_ORDERS). The engines that look for
 * races, predict or judge go by it, or by what is atomic; to the others an atomic access is a plain
 * one, and a fence is no event. send and receive are what the system passes from one thread to
 * another: order to the engines that look for races or predict, and no events to all others.
 */
#define TMS_EVENT_KINDS(X)                                                                         \
    X(BEGIN, "begin", LABEL)                                                                       \
    X(END, "end", LABEL)                                                                           \
    X(READ, "r", VARIABLE)                                                                         \
    X(WRITE, "w", VARIABLE)                                                                        \
    X(UPDATE, "u", VARIABLE) /* atomic read-modify-write */                                        \
    X(ACQUIRE, "acq", LOCK)                                                                        \
    X(RELEASE, "rel", LOCK)                                                                        \
    X(SHARED_ACQUIRE, "racq", LOCK)                                                                \
    X(SHARED_RELEASE, "rrel", LOCK)                                                                \
    X(FORK, "fork", THREAD)                                                                        \
    X(JOIN, "join", THREAD)                                                                        \
    X(WAIT, "wait", CONDITION)                                                                     \
    X(ARRIVE, "arrive", BARRIER)                                                                   \
    X(DEPART, "depart", BARRIER)                                                                   \
    X(ESCAPE, "escape", OBJECT)                                                                    \
    X(ALLOC, "alloc", OBJECT)                                                                      \
    X(FREE, "free", OBJECT)                                                                        \
    X(CALL, "call", LABEL)      /* a function begins that is not assumed to be atomic */           \
    X(RETURN, "return", LABEL)  /* … or was not any more */                                      \
    X(DEMOTE, "demote", LABEL)  /* end, and the function goes on as if it had begun by call */     \
    X(CLEAR, "clear", NONE)     /* a rendezvous: the thread waited for another one */              \
    X(RETRY, "retry", VARIABLE) /* a compare-and-swap of the variable failed */                    \
    X(DELAY, "delay", NONE)     /* the tool itself delayed the thread */                           \
    X(ATOMIC_READ, "ar", VARIABLE)                                                                 \
    X(ATOMIC_WRITE, "aw", VARIABLE)                                                                \
    X(ATOMIC_UPDATE, "au", VARIABLE)                                                               \
    X(FENCE, "fence", NONE)                                                                        \
    X(SEND, "send", CHANNEL)                                                                       \
    X(RECEIVE, "receive", CHANNEL) /* comes after all that was sent so far */                      \
    X(ENTER, "enter", LABEL)                                                                       \
    X(EXIT, "exit", LABEL)

enum tms_event_kind {
#define X(name, text, cls) TMS_EVENT_##name,
    TMS_EVENT_KINDS(X)
#undef X
        TMS_EVENT_COUNT
};

const char *tms_event_text(enum tms_event_kind kind);
enum tms_class tms_event_class(enum tms_event_kind kind);

/* Memory orders as in C11; consume counts as acquire. Events of other kinds have none. */
#define TMS_ORDERS(X)                                                                              \
    X(NONE, "")                                                                                    \
    X(RELAXED, "relaxed")                                                                          \
    X(ACQUIRE, "acquire")                                                                          \
    X(RELEASE, "release")                                                                          \
    X(ACQ_REL, "acq_rel")                                                                          \
    X(SEQ_CST, "seq_cst")

enum tms_order {
#define X(name, text) TMS_ORDER_##name,
    TMS_ORDERS(X)
#undef X
        TMS_ORDER_COUNT
};

const char *tms_order_text(enum tms_order order);

/* The orders that events of a kind can have, as bits: 1 << enum tms_order. */
unsigned tms_event_orders(enum tms_event_kind kind);

/* One event. Its number, counted from 1, is its position in the trace and is not stored. */
struct tms_event {
    uint32_t thread;     /* TMS_CLASS_THREAD */
    uint32_t target;     /* of the class tms_event_class(kind); 0 for a block without label */
    uint32_t location;   /* TMS_CLASS_LOCATION, 0 if unknown */
    uint8_t kind;        /* enum tms_event_kind */
    uint8_t order;       /* enum tms_order, one of tms_event_orders(kind) */
    uint8_t reserved[2]; /* 0 */
};

/* ---- traces in ------------------------------------------------------------------------ */

struct tms_reader;

struct tms_reader_settings {
    const char *format; /* "std", "rr", "regiontrack", "tms"; NULL: look at the content */
    bool lenient;       /* complain about what can't be read, skip it, go on */
};
void tms_reader_settings_init(struct tms_reader_settings *settings);

/*
 * Opens a trace; "-" is standard input. Plain, gzip and zstd input are distinguished by
 * content. Memory is bounded by the names in the trace. `settings` may be NULL.
 */
int tms_reader_open(struct tms_context *context, const char *path,
                    const struct tms_reader_settings *settings, struct tms_reader **out);

/*
 * The next events: their number (> 0) with *events set, 0 at the end of the trace, or a
 * negative code. *events belongs to the reader and lives until the next call.
 */
int64_t tms_reader_next(struct tms_reader *reader, const struct tms_event **events);

/*
 * Where event `index` of the last batch stands, as "FILE:LINE" or "FILE, event N": for
 * messages. Lives until the next call.
 */
const char *tms_reader_where(struct tms_reader *reader, size_t index);

const char *tms_reader_path(const struct tms_reader *reader);
const char *tms_reader_format(const struct tms_reader *reader);

/* Bytes taken from the file so far, and its size if it has one, else 0: for progress. */
uint64_t tms_reader_position(const struct tms_reader *reader, uint64_t *size);

/* What was lost so far: NULL, or a sentence (a file cut off, skipped lines). */
const char *tms_reader_loss(const struct tms_reader *reader);

void tms_reader_close(struct tms_reader *reader);

/* ---- traces out ----------------------------------------------------------------------- */

struct tms_writer;

struct tms_writer_settings {
    const char *format;      /* NULL: by the extension of the path */
    const char *compression; /* "none", "gz", "zst"; NULL: by the extension. Not for tms. */
    int level;               /* zstd or gzip level, 0: the format's default */
    int descriptor;          /* write here instead, and leave it open; 0: create the file */
    bool no_accesses;        /* leave out reads and writes; for perfetto alone, whose other events
                                keep their numbers */
};
void tms_writer_settings_init(struct tms_writer_settings *settings);

/*
 * Creates a trace file, or replaces one, which happens only when it is closed whole; "-" is
 * standard output. Until then the bytes are in "PATH.PID~", beside it. A FIFO, a device or a path
 * of an open descriptor is written as it is.
 */
int tms_writer_open(struct tms_context *context, const char *path,
                    const struct tms_writer_settings *settings, struct tms_writer **out);
int tms_writer_write(struct tms_writer *writer, const struct tms_event *events, size_t count);

/*
 * The trace is not all that happened: `loss` says why, a sentence without its full stop. What is
 * written is marked so, and tms_reader_loss reports it to a reader.
 */
void tms_writer_lost(struct tms_writer *writer, const char *loss);

/*
 * Finishes the file and frees the writer, also when it returns an error: then nothing is left of
 * the file, and one that was there before is as it was.
 */
int tms_writer_close(struct tms_writer *writer);

/* Gives the file up and frees the writer, as if there had been an error. */
void tms_writer_abandon(struct tms_writer *writer);

/* The formats there are: NULL after the last. */
struct tms_format_info {
    const char *name;
    const char *extension; /* with the dot */
    const char *summary;
    bool reads, writes;
};
const struct tms_format_info *tms_format_info(size_t index);

/* ---- engines -------------------------------------------------------------------------- */

#define TMS_ENGINE_FLAGS(X)                                                                        \
    X(EXACT, 1, "exact")               /* its verdict is that of the definition */                 \
    X(AT_EVENT, 2, "at-event")         /* names the very event that closes the first cycle */      \
    X(BLAMES, 4, "blames")             /* names the transactions that are not atomic, exactly */   \
    X(WITNESS, 8, "witness")           /* every violation carries its cycle */                     \
    X(PREDICTIVE, 16, "predictive")    /* speaks of schedules other than the observed one */       \
    X(BOUNDED, 32, "bounded")          /* memory does not grow with the length of the trace */     \
    X(SMALL, 64, "small-traces")       /* refuses traces beyond a documented size */               \
    X(BLAMES_SOME, 128, "blames-some") /* names only such transactions, but not always all */      \
    X(NO_ACCESSES, 256, "no-accesses") /* needs no reads and writes, so it takes any program */

enum tms_engine_flag {
#define X(name, value, text) TMS_ENGINE_##name = value,
    TMS_ENGINE_FLAGS(X)
#undef X
};

struct tms_engine_info {
    const char *name;
    const char *summary;   /* one line */
    const char *paper;     /* where the algorithm is published or documented */
    const char *guarantee; /* what its answer means, a sentence for reports */
    const char *reports;   /* when a violation is found: "at the event", … */
    const char *time;      /* complexity */
    const char *memory;
    unsigned flags;
    uint8_t found; /* enum tms_verdict: what it answers when it found something, … */
    uint8_t clean; /* … and when it took in everything and found nothing */
};

/* The engines there are, in the order of preference; NULL after the last. */
const struct tms_engine_info *tms_engine_info(size_t index);

/* ---- specifications ------------------------------------------------------------------- */

/*
 * Which blocks are meant to be atomic: rules in their order, of which the last that matches
 * counts. A pattern is a glob (`*`, `?`, `[a-z]`, `[!x]`, `\` before a character to be taken as
 * it is) on the label; a label with parameters is matched with and without them, a pattern that
 * equals the label always matches, and `""` matches blocks without a label. What no rule matches
 * is not atomic as soon as one rule says "atomic", and otherwise as it is without a
 * specification: every block and every function is, but functions called `main` and, in
 * RoadRunner logs, `run`.
 *
 * A specification belongs to a context, which keeps its errors, but analyses of other contexts
 * may use it, one at a time.
 */
struct tms_spec;

int tms_spec_new(struct tms_context *context, struct tms_spec **out);

/*
 * Appends one rule; the pattern is copied. TMS_ERR_ARGUMENT: it is empty, or ends with a single
 * backslash.
 */
int tms_spec_add(struct tms_spec *spec, bool atomic, const char *pattern);

/*
 * Appends the rules of a file: lines of "atomic PATTERN" or "not-atomic PATTERN"; "#" at the
 * start of a line, or after a blank, begins a comment; "-" is standard input. If something is
 * wrong with the file, none of its rules is added.
 */
int tms_spec_load(struct tms_spec *spec, const char *path);

/*
 * The index-th rule in its order: the pattern as tms_spec_add takes it, NULL after the last.
 * Lives until a rule is added.
 */
const char *tms_spec_rule(const struct tms_spec *spec, size_t index, bool *atomic);

/*
 * The patterns that no label has matched so far, as a sentence says them (with file and line
 * where they have one); NULL after the last. Lives until the next call.
 */
const char *tms_spec_unmatched(struct tms_spec *spec, size_t index);

void tms_spec_free(struct tms_spec *spec);

/* ---- suppressions --------------------------------------------------------------------- */

/*
 * Rules about findings that are not to be reported (docs/user/suppressions.md). A pattern is a glob
 * as in specifications. X(name, text in files): the function of the block; a lock, which is then
 * taken not to exist; a variable, or the object that it belongs to; the source file of the block or
 * of one of its events; the shared library that one of its events lies in; the id of the finding.
 */
#define TMS_SUPPRESSIONS(X)                                                                        \
    X(BLOCK, "block")                                                                              \
    X(LOCK, "lock")                                                                                \
    X(VARIABLE, "variable")                                                                        \
    X(FILE, "file")                                                                                \
    X(OBJECT, "object")                                                                            \
    X(ID, "id")

enum tms_suppression {
#define X(name, text) TMS_SUPPRESS_##name,
    TMS_SUPPRESSIONS(X)
#undef X
};

/*
 * Belongs to a context, which keeps its errors, but analyses of other contexts may use it, one at
 * a time: it notes which rules were used.
 */
struct tms_suppressions;

int tms_suppressions_new(struct tms_context *context, struct tms_suppressions **out);

/*
 * Appends one rule; the pattern is copied. TMS_ERR_ARGUMENT: it is empty or ends with a single
 * backslash; or it should be an id (AV- and hexadecimal digits) and is not.
 */
int tms_suppressions_add(struct tms_suppressions *suppressions, enum tms_suppression kind,
                         const char *pattern);

/*
 * Appends the rules of a file: lines of "block PATTERN" and so on, and "id AV-3f2a91"; "#" at the
 * start of a line, or after a blank, begins a comment; "-" is standard input. If something is
 * wrong with the file, none of its rules is added.
 */
int tms_suppressions_load(struct tms_suppressions *suppressions, const char *path);

struct tms_finding;

/*
 * Does a rule match the finding, whose names are those of that context? Marks all rules that do as
 * used. Cost: the number of rules times the length of the cycle. An analysis does this by itself.
 */
bool tms_suppressions_match(struct tms_suppressions *suppressions, const struct tms_context *names,
                            const struct tms_finding *finding);

/*
 * The rules that have matched nothing so far, as a sentence says them (with file and line where
 * they have one); NULL after the last. Lives until the next call.
 */
const char *tms_suppressions_unused(struct tms_suppressions *suppressions, size_t index);

void tms_suppressions_free(struct tms_suppressions *suppressions);

/* ---- analysis ------------------------------------------------------------------------- */

#define TMS_SPLITS(X)                                                                              \
    X(WAIT, 1, "wait")                                                                             \
    X(BARRIER, 2, "barrier")                                                                       \
    X(FORK, 4, "fork")                                                                             \
    X(JOIN, 8, "join")

enum tms_split {
#define X(name, value, text) TMS_SPLIT_##name = value,
    TMS_SPLITS(X)
#undef X
};

/* What `sidetrack` looks at beyond locks, forks and joins. */
#define TMS_PREDICTS(X)                                                                            \
    X(SHARED, 1, "shared")      /* shared locks */                                                 \
    X(BARRIER, 2, "barrier")    /* a barrier orders what is before it and what is after it */      \
    X(WAIT, 4, "wait")          /* a wait gives its lock away and takes it again */                \
    X(ATOMIC, 8, "atomic")      /* atomic accesses order; read-modify-writes also form windows */  \
    X(VARIABLE, 16, "variable") /* windows of two accesses to a variable with a lock of its own */ \
    X(PAIR, 32, "pair")         /* windows between sections of two locks */

enum tms_predict {
#define X(name, value, text) TMS_PREDICT_##name = value,
    TMS_PREDICTS(X)
#undef X
};

/* How the lockset engines tell whether two threads may race for a variable. */
#define TMS_RACE_TESTS(X)                                                                          \
    X(DEFAULT, "default") /* each engine its own: reduction multilockset, atomizer praun-gross */  \
    X(MULTILOCKSET, "multilockset") /* Wang and Stoller, figure 3 */                               \
    X(ERASER, "eraser")                                                                            \
    X(PRAUN_GROSS, "praun-gross") /* ownership passes on once before locks are looked at */        \
    X(ATOMIZER, "atomizer")       /* a lockset for all accesses, one for writes */

enum tms_race_test {
#define X(name, text) TMS_RACE_##name,
    TMS_RACE_TESTS(X)
#undef X
};

/* From when on the lockset engines take a variable as shared. */
#define TMS_ESCAPES(X)                                                                             \
    X(AUTO, "auto") /* `escape` events, and for objects without one the first foreign access */    \
    X(EVENTS, "events") /* `escape` events only: what has none never escapes */                    \
    X(OFF, "off")       /* from the start */

enum tms_escape {
#define X(name, text) TMS_ESCAPE_##name,
    TMS_ESCAPES(X)
#undef X
};

/* Which theorem of Wang and Stoller `blocks` goes by. */
#define TMS_BLOCKS(X)                                                                              \
    X(1V, "1v")     /* theorem 3: two accesses to one variable */                                  \
    X(2V, "2v")     /* theorem 4: pairs of transactions, any variables */                          \
    X(FULL, "full") /* theorem 5: cycles of more than two transactions */

enum tms_blocks {
#define X(name, text) TMS_BLOCKS_##name,
    TMS_BLOCKS(X)
#undef X
};

struct tms_settings {
    const char *engines; /* comma-separated names, "all", or "" for none (validate only) */
    bool blame;          /* which transactions are themselves not atomic */
    bool all;            /* list every violation, don't group them by pattern */
    bool first;          /* stop at the first violation */
    bool lenient;        /* skip what is not well-formed, and say so */
    unsigned split;      /* enum tms_split, what cuts a block in two */
    struct tms_spec
        *spec;      /* what is meant to be atomic; NULL: the default. Outlives the analysis */
    double timeout; /* seconds that each engine may take, then it gives up; 0: no limit */
    uint64_t max_violations; /* list at most so many findings per engine; 0: no limit */
    unsigned predict;        /* enum tms_predict, extensions of sidetrack */
    enum tms_race_test race_test;
    enum tms_escape escape;
    enum tms_blocks blocks;
    bool periods; /* lockset engines: what start, join and barrier order can't interleave */
    bool acq_rel; /* reduction: a critical section may move as a whole (theorem 2, AcqA*Rel) */
    bool expect_blocks; /* without any, atomic or not, verdicts about blocks are incomplete */
    /*
     * Findings that these match are marked as suppressed at the finish, and when stacks are
     * resolved; operations on locks that they match are left out. NULL: none. Outlives the analysis
     */
    struct tms_suppressions *suppressions;
    /*
     * Some engines may run on a second thread, which starts with a feed, takes no signals and has
     * ended after the finish or the free. Do not fork in between. Results are the same. The first
     * engine stays on the calling thread.
     */
    bool parallel;
};
/*
 * Defaults: engine frontier, blame, grouped, the whole trace, strict, split at wait and barrier,
 * one thread; all extensions of sidetrack but windows of variables; of the lockset engines
 * everything that makes false alarms fewer; blocks by theorem 4.
 */
void tms_settings_init(struct tms_settings *settings);

struct tms_analysis;

/* Copies the settings but for what they say outlives the analysis. */
int tms_analysis_new(struct tms_context *context, const struct tms_settings *settings,
                     struct tms_analysis **out);

/* Takes in a whole trace, or what is left of it, and finishes. */
int tms_analysis_read(struct tms_analysis *analysis, struct tms_reader *reader);

/*
 * Takes in some events by hand; the ids in them come from tms_intern. Event kinds and ids
 * are checked. `reader` says where they came from, for messages, if they are the last batch
 * of a reader, and is NULL otherwise. Returns 1 when the analysis wants no more (see
 * tms_settings.first), else 0 or a negative code. No allocation per event.
 */
int tms_analysis_feed(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                      struct tms_reader *reader);

/*
 * Before the finish: events are known to be missing, and why, as a sentence without its full stop.
 * Without a violation the verdict is then incomplete. NULL: nothing is.
 */
void tms_analysis_lost(struct tms_analysis *analysis, const char *loss);

/*
 * Before the finish: there were so many outermost blocks, though the events leave out those that
 * can't matter to the engines. Reports then state this number, and none of events.
 */
void tms_analysis_counted(struct tms_analysis *analysis, uint64_t transactions);

/*
 * Before the first event with that label: blocks of it may stand for several that were taken for
 * one. What an engine predicts of them is no more than potential, and `why`, a sentence without its
 * full stop, stands against it; it must outlive the analysis. TMS_OK or TMS_ERR_MEMORY.
 */
int tms_analysis_doubt(struct tms_analysis *analysis, uint32_t label, const char *why);

/* No more events will come; results are there afterwards. */
int tms_analysis_finish(struct tms_analysis *analysis);

void tms_analysis_free(struct tms_analysis *analysis);

/* The context that the analysis was made from: for the names in its results. */
struct tms_context *tms_analysis_context(const struct tms_analysis *analysis);

/* ---- results -------------------------------------------------------------------------- */

/* Whole-trace counts; threads, variables and locks are the names known to the context. */
struct tms_trace_summary {
    uint64_t events;
    uint64_t threads, variables, locks;
    uint64_t transactions; /* outermost blocks */
    uint64_t not_atomic;   /* blocks and functions that are not meant to be atomic */
    uint64_t unary;        /* events outside any atomic block */
    uint64_t skipped;      /* events that a lenient run left out */
    bool rough;            /* events (if 0), variables, locks and unary were not counted */
    double seconds;        /* from the first event to the finish, engines included */
};

#define TMS_VERDICTS(X)                                                                            \
    X(SERIALIZABLE, "serializable")                                                                \
    X(VIOLATION, "violation")                                                                      \
    X(INCOMPLETE, "incomplete")                                                                    \
    X(NONE_BLAMED, "none-blamed") /* by an engine that judges transactions, not the trace */       \
    X(PREDICTED, "predicted")     /* another schedule of this run has a violation */               \
    X(NONE_PREDICTED, "none-predicted")                                                            \
    X(POTENTIAL, "potential") /* another schedule may have one; may be a false alarm */            \
    X(NONE_POTENTIAL, "none-potential")                                                            \
    X(RACE, "race")                                                                                \
    X(NO_RACE, "no-race")                                                                          \
    X(AFFECTED, "affected") /* by `judge`: data was affected, an error or a warning */             \
    X(UNAFFECTED, "unaffected")

enum tms_verdict {
#define X(name, text) TMS_VERDICT_##name,
    TMS_VERDICTS(X)
#undef X
};
const char *tms_verdict_text(enum tms_verdict verdict);

/* Why one event of a step must come before the other. */
#define TMS_EDGE_KINDS(X)                                                                          \
    X(READ_WRITE, "read-write")                                                                    \
    X(WRITE_READ, "write-read")                                                                    \
    X(WRITE_WRITE, "write-write")                                                                  \
    X(LOCK, "lock")                                                                                \
    X(FORK, "fork")                                                                                \
    X(JOIN, "join")                                                                                \
    X(BARRIER, "barrier")                                                                          \
    X(PROGRAM_ORDER, "program-order")

enum tms_edge_kind {
#define X(name, text) TMS_EDGE_##name,
    TMS_EDGE_KINDS(X)
#undef X
};
const char *tms_edge_text(enum tms_edge_kind kind);

#define TMS_EVIDENCE(X)                                                                            \
    X(OBSERVED, "observed")                                                                        \
    X(PREDICTED, "predicted")                                                                      \
    X(POTENTIAL, "potential")

enum tms_evidence {
#define X(name, text) TMS_EVIDENCE_##name,
    TMS_EVIDENCE(X)
#undef X
};
const char *tms_evidence_text(enum tms_evidence evidence);

/* A transaction. A unary one is a single event outside any block: begin_event is that event. */
struct tms_transaction {
    uint64_t begin_event;
    uint32_t thread;
    uint32_t label;    /* TMS_CLASS_LABEL, 0 if the block has none */
    uint32_t location; /* of the begin event, 0 if unknown */
    bool unary;
};

/*
 * One step of a cycle: the event `first` of `from` conflicts with the later `second` of `to`; later
 * in the trace, or, in a finding that was not observed, in the schedule that it speaks of.
 */
#define TMS_STACK_FIELDS 5
struct tms_step {
    struct tms_transaction from, to;
    uint64_t first_event, second_event;
    uint32_t first_location, second_location;
    /*
     * How the program came to the two events, 0 if unknown: the name of a TMS_CLASS_STACK is a line
     * for each frame, the innermost first, of function, file, line number, the text of that line,
     * and the program or shared library, with tabs between. What is not known is empty. The first
     * line may have one more: the instruction, as "bank+0x12ab".
     */
    uint32_t first_stack, second_stack;
    uint32_t on;        /* what they conflict on, of class on_class; 0 for program order */
    uint32_t on_alias;  /* another name for it, that ids of findings are made of, because that of
                           `on` has line numbers or addresses in it; 0: there is none */
    uint8_t on_class;   /* enum tms_class */
    uint8_t kind;       /* enum tms_edge_kind */
    uint8_t first_kind; /* enum tms_event_kind */
    uint8_t second_kind;
};

/* An event at its place in a schedule that was not observed. */
struct tms_turn {
    uint64_t event; /* its number in the trace */
    uint32_t thread;
    uint32_t target;   /* of the class tms_event_class(kind) */
    uint32_t location; /* 0 if unknown */
    uint32_t stack;    /* TMS_CLASS_STACK, 0 if unknown */
    uint8_t kind;      /* enum tms_event_kind */
    const char *role;  /* a few words that say what it is there for; NULL: nothing by itself */
};

/* How bad a judged finding is; the words are those of SARIF. */
#define TMS_LEVELS(X)                                                                              \
    X(NOTE, "note")                                                                                \
    X(WARNING, "warning")                                                                          \
    X(ERROR, "error")

enum tms_level {
#define X(name, text) TMS_LEVEL_##name,
    TMS_LEVELS(X)
#undef X
};
const char *tms_level_text(enum tms_level level);

/*
 * What happened to the data of a block (docs/user/judge.md). X(name, text, a clause about the
 * block). The first of those that a finding has is what its headline says.
 */
#define TMS_PATTERNS(X)                                                                            \
    X(LOST_UPDATE, "lost-update", "an update was lost")                                            \
    X(INCONSISTENT_READS, "inconsistent-reads", "it read values that never existed together")      \
    X(CHANGED_BETWEEN_READS, "changed-between-reads", "a value changed between two reads")         \
    X(STALE_DECISION, "stale-decision", "it wrote on the strength of a value that had changed")    \
    X(FOREIGN_VALUE_READ_BACK, "foreign-value-read-back",                                          \
      "it read back a value that another thread had written")                                      \
    X(INTERLEAVED_WRITES, "interleaved-writes", "two groups of writes were mixed")                 \
    X(INTERMEDIATE_VALUE_SEEN, "intermediate-value-seen",                                          \
      "another thread saw a value that was not final")                                             \
    X(HALF_UPDATE_SEEN, "half-update-seen", "another thread saw half of an update")                \
    X(EXCHANGE, "exchange", "it handed something over and took an answer")                         \
    X(INTERLEAVED_UPDATES, "interleaved-updates", "complete updates took turns")                   \
    X(OVERWRITTEN, "overwritten", "a value of another thread was overwritten")                     \
    X(RECHECKED, "rechecked", "a value was checked again under a lock")                            \
    X(POLLED, "polled", "a value was polled")                                                      \
    X(ORDER_ONLY, "order-only", "no data was affected, only the order of locks")                   \
    X(OWN_THREAD, "own-thread", "it started or joined the thread that came in between")            \
    X(UNWATCHED, "unwatched", "what was done with the data was not recorded")

enum tms_pattern {
#define X(name, text, clause) TMS_PATTERN_##name,
    TMS_PATTERNS(X)
#undef X
        TMS_PATTERN_COUNT
};
const char *tms_pattern_text(enum tms_pattern pattern);
const char *tms_pattern_clause(enum tms_pattern pattern);

/*
 * What `judge` says of a finding: a block whose data was affected. The events in it are those of
 * the first occurrence of its first pattern, with the level that it has in the end.
 */
struct tms_judgement {
    enum tms_level level;
    unsigned patterns;          /* 1 << enum tms_pattern, all that occurred */
    enum tms_pattern pattern;   /* the one that `own` and `foreign` show */
    uint32_t variable;          /* TMS_CLASS_VARIABLE: the bytes in question; 0: no data */
    uint32_t other;             /* of a pattern of two variables the second one, else 0 */
    const char *object;         /* of `variable` (or `lock`), as declared, without its field */
    const char *other_object;   /* of `other`, NULL: none */
    uint64_t executions;        /* of the block in this run, … */
    uint64_t cut;               /* … and of these, in which this finding occurred */
    uint64_t processes;         /* in which it occurred, 1 at least */
    bool driver;                /* the block is a driver, … */
    bool interleaved;           /* … and cut in most executions: a note for that reason */
    const struct tms_turn *own; /* the two steps of the block */
    size_t own_count;
    const struct tms_turn *foreign; /* those that came between */
    size_t foreign_count;
    struct tms_transaction culprit;      /* the block that `foreign` belongs to; unary: in none */
    const struct tms_transaction *outer; /* blocks around it, cut as well, the innermost first */
    size_t outer_count;
    uint32_t lock;            /* TMS_CLASS_LOCK: held at the first step, given up; 0: none */
    struct tms_turn given_up; /* the release, if there is a lock; event 0: unknown */
};

/* A violation, or all those of one static pattern. */
struct tms_finding {
    const char *id; /* "AV-3f2a91": from names only */
    const char
        *kind; /* "cycle" for the exact engines; "before", "in", "after", "pair" for
                  sidetrack, "pattern" for blocks, "reduction", "race", "deadlock" for others */
    enum tms_evidence evidence;
    uint64_t count;  /* how many violations it stands for; what follows is the first of them */
    uint64_t event;  /* the event that closed the cycle */
    uint32_t thread; /* of that event */
    bool not_atomic; /* the transaction itself is not atomic; meaningless without blame */
    struct tms_transaction transaction; /* the one the cycle was closed into */
    const struct tms_step *cycle;       /* starts and ends at `transaction`; may be NULL */
    size_t cycle_length;
    /*
     * If it is not atomic: the blocks that are refuted, outermost (the transaction's own) first.
     * They are those open both at the first event of the cycle in the transaction and at its
     * last. NULL when the engine has no blame.
     */
    const struct tms_transaction *refuted;
    size_t refuted_count;
    const uint32_t *held; /* TMS_CLASS_LOCK: what `thread` held at that event, as far as known */
    size_t held_count;
    /*
     * Of a finding that was not observed: the events that make it, in the order in which they come
     * in the schedule it speaks of. NULL if there is nothing to tell beyond the cycle.
     */
    const struct tms_turn *schedule;
    size_t schedule_length;
    const char *caveat; /* what stands against this one finding: NULL, or a sentence */
    /*
     * The same found by another engine, with stronger evidence or with more to tell: the id of the
     * finding there. NULL: it stands for itself.
     */
    const char *same_as;
    const struct tms_judgement *judgement; /* of findings of `judge`, else NULL */
    const char *judged; /* of other findings: the id of the judged one about it; NULL: none */
    uint64_t processes; /* of a merged result: in how many processes it occurred; 0: not merged */
    uint64_t runs; /* of many runs of a program: how many showed it; 0: there was one run, … */
    uint64_t failed_runs; /* … in how many of these the program failed, … */
    uint64_t first_seed;  /* … and the seed of the first */
    uint64_t rank;        /* its place among those of many runs, from 1 on; 0: reports choose */
    bool known;           /* a baseline has its blocks, as bad as here (tms_baseline_mark) */
    bool suppressed;      /* a rule of settings.suppressions matches it */
};

/* A number that an engine keeps about itself, for --stats. */
struct tms_counter {
    const char *name;
    const char *meaning;
    uint64_t value;
};

struct tms_result {
    const struct tms_engine_info *engine;
    enum tms_verdict verdict;
    bool complete;                      /* nothing was lost on the way */
    const char *loss;                   /* if something was: a sentence, else NULL */
    const char *assumption;             /* what the findings presuppose, and whether it was checked:
                                           NULL, or a sentence */
    bool blamed;                        /* not_atomic of the findings means something */
    uint64_t first_violation_event;     /* 0: none */
    const struct tms_finding *findings; /* by event */
    size_t finding_count;
    uint64_t unlisted;      /* findings beyond max_violations */
    uint64_t known;         /* so many more at the end of the list: those that a baseline has */
    uint64_t suppressed;    /* so many more after these: those that a rule suppresses */
    uint64_t violations;    /* transactions into which a cycle was closed, or which are blamed */
    uint64_t closing_edges; /* all the edges that would have closed a cycle */
    uint64_t events;        /* that the engine took in: all of them unless it gave up */
    double seconds;         /* spent in the engine */
    uint64_t memory_bytes;  /* most that the engine held */
    const struct tms_counter *counters;
    size_t counter_count;
};

void tms_analysis_summary(const struct tms_analysis *analysis, struct tms_trace_summary *out);

/* Result of the index-th engine, in the order of settings.engines; NULL after the last. */
const struct tms_result *tms_analysis_result(const struct tms_analysis *analysis, size_t index);

/*
 * What somebody else found by the algorithm of `frontier`, such as the runtime inside a program.
 * Of a finding, `id` and `kind` are not looked at, and `evidence` is that it was observed. The
 * names come from the context. Everything is copied.
 */
struct tms_observation {
    struct tms_trace_summary summary;
    const struct tms_finding *findings;
    size_t finding_count;
    uint64_t first_violation_event; /* 0: none */
    uint64_t violations;            /* as in tms_result; at least the counts of the findings */
    uint64_t closing_edges;
    uint64_t memory_bytes;
    const char *loss; /* why it can't be complete: NULL, or a sentence */
};

/*
 * Gives an analysis that has not finished, and in which `frontier` is not at work, that result as
 * its first, as if it had been found here: grouped, listed and with ids as the settings say. The
 * summary counts in place of what was fed. Call it once, after the last event.
 */
int tms_analysis_observe(struct tms_analysis *analysis, const struct tms_observation *observation);

/*
 * Data races that somebody else found by the rules of `fasttrack`. The cycle of a finding is one
 * step: its two accesses. Otherwise as of struct tms_observation.
 */
struct tms_observed_races {
    const struct tms_finding *findings;
    size_t finding_count;
    uint64_t first_race_event; /* 0: none */
    uint64_t races;            /* pairs of accesses; at least the counts of the findings */
    uint64_t events;
    double seconds;
    const char *loss; /* why it can't be complete: NULL, or a sentence */
};

/*
 * Gives an analysis to which tms_analysis_observe has given its result, and in which `fasttrack` is
 * not at work, that one as its last. Call it once.
 */
int tms_analysis_observe_races(struct tms_analysis *analysis,
                               const struct tms_observed_races *races);

/*
 * A finished analysis with one result, that of `frontier`, as if it had been found here: grouped,
 * listed and with ids as the settings say, of which blame, all and max_violations count.
 */
int tms_analysis_observed(struct tms_context *context, const struct tms_settings *settings,
                          const struct tms_observation *observation, struct tms_analysis **out);

/*
 * Evidence that somebody else has by the tables of `judge` (docs/user/judge.md), such as the
 * runtime inside a program. What depends on lines is not decided: of two reads in one place, the
 * pattern is changed-between-reads or rechecked.
 */
struct tms_judged_evidence {
    enum tms_pattern pattern;
    bool mild;        /* a note, whatever the pattern */
    bool firm;        /* of two variables: more than a note, if `culprit` is no driver */
    uint32_t culprit; /* label, if firm */
    uint32_t place;   /* location where the second step reads with a lock held; 0: it does not */
    uint64_t count;   /* occurrences; the rest is of the first one */
    uint32_t finding; /* equal numbers: the same block and objects there, … */
    uint64_t cut;     /* … which were cut in so many executions, as far as was known then */
    uint32_t variable, other;           /* TMS_CLASS_VARIABLE; of one variable: other is 0 */
    struct tms_turn own[2], foreign[2]; /* of one variable: foreign[1] does not count */
    struct tms_turn given_up;           /* the release between the steps; event 0: none */
    struct tms_transaction block, foreign_block;
    const struct tms_transaction *outer; /* the activations around the block, the innermost first */
    size_t outer_count;
};

/* What is counted of a block: docs/user/judge.md, "Executions and drivers". */
struct tms_judged_block {
    uint32_t label;
    uint64_t executions, same, busy, ended, counted, counted_cut;
};

/* Something that is accessed while a lock is held which was acquired at a place. */
struct tms_judged_member {
    uint32_t lock, location, variable;
    unsigned kinds; /* as bits: 2 read, 4 written, 8 updated */
};

struct tms_judging {
    const struct tms_judged_evidence *evidence;
    size_t evidence_count;
    const struct tms_judged_block *blocks;
    size_t block_count;
    const struct tms_judged_member *members;
    size_t member_count;
    const uint32_t *waiting_places; /* locations */
    size_t waiting_count;
    bool watched; /* accesses to memory were: what is cut without data is not so for lack of them */
};

/*
 * The engine `judge` of this analysis gets no events: what it would have found will be said by
 * tms_analysis_judge. Call it before the first event.
 */
int tms_analysis_judge_elsewhere(struct tms_analysis *analysis);

/* What it found. Call it once, before the analysis is finished. Everything is copied. */
int tms_analysis_judge(struct tms_analysis *analysis, const struct tms_judging *judging);

/* An event of a running program, and the transaction that it is in. */
struct tms_predicted_event {
    uint64_t event;
    uint32_t location, stack; /* 0 if unknown */
    uint8_t kind;             /* enum tms_event_kind */
    struct tms_transaction in;
};

enum tms_predicted_kind {
    TMS_PREDICTED_BEFORE,
    TMS_PREDICTED_IN,
    TMS_PREDICTED_AFTER,
    TMS_PREDICTED_PAIR,
    TMS_PREDICTED_KINDS
};

/* What somebody else predicted by the rules of `sidetrack`: a window of acquires, and its culprit.
 */
struct tms_predicted {
    uint8_t kind;      /* enum tms_predicted_kind: where the culprit was seen */
    bool rough;        /* the threads may wait for each other in that schedule */
    uint64_t count;    /* how often it was predicted */
    uint32_t on;       /* TMS_CLASS_LOCK */
    uint32_t on_alias; /* see struct tms_step */
    struct tms_predicted_event first, culprit, second;
    /* Of a pair, whose first acquire is of another lock: that lock, and who took it afterwards. */
    uint32_t first_on, first_alias;
    struct tms_predicted_event through;
    const struct tms_transaction *refuted; /* see struct tms_finding; none: the transaction alone */
    size_t refuted_count;
};

/* A lock that was held; locks are numbered from 0 on. */
struct tms_lock_hold {
    uint32_t lock;
    bool shared;
    struct tms_predicted_event taken;
};

/* What cycles of `goodlock` are made of: a thread wanted a lock, or the end of another thread. */
struct tms_lock_request {
    struct tms_predicted_event wants;
    bool join, shared;
    uint32_t wanted; /* the number of a lock, or a TMS_CLASS_THREAD */
    const struct tms_lock_hold *held;
    size_t held_count;
    /*
     * Its period: by line of threads that come one after the other, up to which event all of the
     * line had ended, in any order of the same steps. Line 0 is none.
     */
    uint32_t line;
    const uint64_t *knows;
    size_t knows_count;
};

/* All that a program has to say on its predictions. Everything is copied. */
struct tms_predictions {
    const struct tms_predicted *predicted;
    size_t predicted_count;
    const struct tms_lock_request *requests;
    size_t request_count;
    const uint32_t *lock_names, *lock_aliases; /* TMS_CLASS_LOCK, by number; aliases may be 0 */
    size_t lock_count;
    uint64_t acquires, windows, dropped; /* for the counters of `sidetrack` */
};

/*
 * Gives an analysis that has not finished, and is fed nothing, what `sidetrack` and `goodlock`,
 * those of the two that are at work in it, would have found or collected. Call it once.
 */
int tms_analysis_predict(struct tms_analysis *analysis, const struct tms_predictions *predictions);

/*
 * Takes the results of a finished analysis into another one, which was made without engines
 * (settings.engines ""), is fed nothing, and has results from then on: for the processes of one
 * run. Each engine has one result. Findings of `judge` about the same function and objects become
 * one, and so do those of other engines with the same id or about the same blocks; they are
 * counted together, and tms_finding.processes says in how many analyses they occurred. Everything
 * is copied, and the contexts may differ. An error leaves `into` fit for nothing but
 * tms_analysis_free. Cost: the number of findings.
 */
int tms_analysis_merge(struct tms_analysis *into, const struct tms_analysis *from);

/* Results that were saved, such as those that a JSON file has. */
struct tms_restored {
    struct tms_trace_summary summary;
    const struct tms_result *results; /* of different engines */
    size_t result_count;
    const char *loss; /* why no verdict can be complete: NULL, or a sentence */
};

/*
 * A finished analysis with these results, to be reported. The names in them are those of the
 * context. The list of results is copied; what it points to stays the caller's and must outlive
 * the analysis. TMS_ERR_ARGUMENT: two of them are of the same engine.
 */
int tms_analysis_restore(struct tms_context *context, const struct tms_restored *restored,
                         struct tms_analysis **out);

/*
 * How the program came to an event, 0 if unknown (see struct tms_step). Looked up for the events
 * of all findings, by their numbers, after the finish.
 */
typedef uint32_t tms_stack_of(void *user, uint64_t event);
void tms_analysis_resolve(struct tms_analysis *analysis, tms_stack_of *stack_of, void *user);

/* Why no verdict can be complete: NULL, or a sentence (skipped events, a trace cut off). */
const char *tms_analysis_loss(const struct tms_analysis *analysis);

/* ---- baselines ------------------------------------------------------------------------ */

/*
 * What is known from earlier results: blocks, each with the worst that was said of it. A finding
 * is new if one of its blocks is not there, or is worse now: of a higher level (`judge`) or with
 * stronger evidence (other engines). Blocks are compared by function, without template arguments
 * and clone suffixes (docs/user/judge.md), races and deadlocks by id. Belongs to a context, which
 * keeps its errors.
 */
struct tms_baseline;

int tms_baseline_new(struct tms_context *context, struct tms_baseline **out);

/* Adds the blocks of a finding, whose names are in that context. TMS_OK or TMS_ERR_MEMORY. */
int tms_baseline_add(struct tms_baseline *baseline, const struct tms_context *names,
                     const struct tms_finding *finding);

/*
 * Sets tms_finding.known in all results of a finished analysis, of any context, and moves those
 * that are known to the end, where tms_result.known counts them and finding_count does not. Nothing
 * can be merged into the analysis afterwards. How many are known, or TMS_ERR_MEMORY. Cost: the
 * number of findings.
 */
int64_t tms_baseline_mark(struct tms_baseline *baseline, struct tms_analysis *analysis);

void tms_baseline_free(struct tms_baseline *baseline);

/* ---- reports -------------------------------------------------------------------------- */

/* Receives the text of a report in pieces; returns false to stop (a write error). */
typedef bool tms_sink(void *user, const char *text, size_t length);

/* What a run of a program covers; docs/user/runtime.md has the definitions. */
struct tms_coverage {
    bool known;
    uint64_t
        functions_shared;   /* functions that touched memory that another thread had touched, … */
    uint64_t functions_met; /* … those of them that met that thread in the block in which it did */
};

/* Where something happened; ids of the context, 0: unknown. */
struct tms_window_place {
    uint32_t location;
    uint32_t stack; /* TMS_CLASS_STACK */
};

#define TMS_JUDGED_ID_SIZE 16

/*
 * Two accesses of a block to the same memory, or two acquires of the same lock, in a program whose
 * other threads use it too: a schedule can hold a thread in between (docs/user/schedules.md).
 */
struct tms_window {
    char id[TMS_JUDGED_ID_SIZE];  /* of the finding of `judge` that it would be */
    struct tms_transaction block; /* its label and where it begins */
    uint32_t target;              /* the variable, or the lock */
    bool lock;                    /* which of the two */
    bool guarded; /* the thread holds some lock from before the first to the second */
    struct tms_window_place open, close, at; /* the first, where to hold the thread, the second */
    uint64_t seen;
};

/* How the threads of a program were steered (docs/user/schedules.md). */
struct tms_steering {
    const char *strategy; /* NULL: they were not steered */
    uint64_t seed;
    uint64_t points, delays, holds, met, released;
    const struct tms_window *windows;
    size_t window_count;
};

/*
 * The id of a finding of `judge` about one variable or lock, in a block with this label, as long as
 * no other finding of the result needs more digits; "" when memory is short. Cost: the length of
 * the names.
 */
void tms_judged_id(const char *label, const char *variable, char id[TMS_JUDGED_ID_SIZE]);

/*
 * The seconds of an engine over several passes, as tmesis check --repeat and --until-first measure
 * them; docs/research/reproducing.md says how. Plain data that the caller fills in.
 */
struct tms_timing {
    uint64_t runs;              /* passes that were measured, at least 1 */
    double least, median, most; /* in the engine, as tms_result.seconds */
    double pass;                /* median of whole passes: reading, validation and engines */
    uint64_t events;            /* that the engine took in */
    bool until_first;           /* it was alone, and stopped at its first violation */
};

struct tms_report_settings {
    const char *path;   /* of the trace, as the user named it; of a program, its command line */
    const char *format; /* of the trace; TMS_FORMAT_LIVE: a program was watched */
    const char *blocks; /* what was taken to be atomic, a sentence; NULL: as the trace says */
    bool color;         /* terminal colours in text */
    bool stats;         /* engine counters in text; JSON always has them */
    bool quiet;         /* the verdict line only */
    bool potential;     /* findings that are merely potential too; otherwise text counts them */
    bool races;         /* data races too; otherwise text counts them */
    bool notes;         /* findings of `judge` that are notes too; otherwise text counts them */
    bool locks_only;    /* of a program: its memory was not watched, so nothing is said of data */
    bool verbose;       /* everything in full: no limit of lines, call stacks, guarantees */
    const char *strip_prefix; /* a directory that text leaves out of paths; NULL: none */
    const char *command;      /* of a program: what to type to run it again; NULL: as `path` says */
    unsigned width;           /* columns of text, 40 at least; 0: 80 */
    double started;           /* seconds since 1970; 0: unknown. From here on for JSON */
    double seconds;           /* that a program ran; 0: those of the summary */
    const char *host;         /* where it ran, NULL: unknown */
    uint64_t seed;            /* of its delays, … */
    bool seeded;              /* … if there were any */
    bool baseline;            /* findings were compared with one (tms_baseline_mark) */
    uint64_t processes;       /* of a merged result (tms_analysis_merge): of how many; else 0 */
    bool partial;             /* the program still runs: this is not its last result */
    uint64_t runs;            /* of a result over many runs: how many there were; 0: one */
    bool ended;               /* of a program: it has, with … */
    int exit_status;          /* … this status, or, if it is not 0, … */
    int exit_signal;          /* … by this signal */
    struct tms_coverage coverage;        /* of a program */
    const struct tms_steering *steering; /* of a program; NULL: it was not steered */
    const struct tms_timeline *timeline; /* for tms_export: earlier results; NULL: none are known */
    const struct tms_timing *timings;    /* for "table" and "json": one for each result … */
    size_t timing_count;                 /* … in their order, the caller's; 0: read once */
};
#define TMS_FORMAT_LIVE "live"

void tms_report_settings_init(struct tms_report_settings *settings);

/*
 * Writes a finished analysis as "text", as "table" (a row for each engine) or as "json" (one
 * object, with a line end). Cost: the number of findings.
 */
int tms_report(const struct tms_analysis *analysis, const char *kind,
               const struct tms_report_settings *settings, tms_sink *sink, void *user);

/*
 * Writes one finding in full, as "text" does, with everything that it has: call stacks and event
 * numbers too. `result` need not come from an analysis; of it, `engine`, `blamed` and the findings
 * count, whose names are in the context. TMS_ERR_ARGUMENT: there is no finding at `index`.
 */
int tms_report_finding(struct tms_context *context, const struct tms_result *result, size_t index,
                       const struct tms_report_settings *settings, tms_sink *sink, void *user);

/* ---- documents for other programs ----------------------------------------------------- */

/* A format of documents, such as SARIF; docs/user/reports.md describes them. */
struct tms_export_format {
    const char *name;       /* "sarif" */
    const char *media_type; /* "application/sarif+json" */
    const char *help;       /* one line: what it is for */
};

/* The index-th format, in the order of their names in docs/user/reports.md; NULL after the last. */
const struct tms_export_format *tms_export_format(size_t index);

/*
 * What a history of results knows, for documents that show findings over time. Plain data, which
 * the caller owns and which must not change during tms_export. Times are ISO 8601 in UTC.
 */

/* Results that belong together, such as those of a night. */
struct tms_timeline_column {
    const char *name;
    uint64_t results;                     /* so many, … */
    uint64_t runs;                        /* … of so many runs of programs */
    uint64_t levels[TMS_LEVEL_ERROR + 1]; /* different findings of each level, not suppressed */
    bool reported;                        /* the document is about results of this column */
};

/* A finding in a column. */
struct tms_timeline_cell {
    size_t column;
    enum tms_level level;   /* the highest there */
    uint64_t results, runs; /* that showed it */
};

struct tms_timeline_finding {
    const char *id;
    const char *first_seen, *last_seen;     /* when, … */
    const char *first_column, *last_column; /* … and in which column, perhaps an omitted one */
    const struct tms_timeline_cell *cells;  /* in the order of columns; those that did not show
                                               it are left out */
    size_t cell_count;
    bool is_new; /* a column that the document is about is the first that showed it */
    const char *suppressed_by, *suppressed_at, *suppressed_why; /* NULL: it is not suppressed */
};

struct tms_timeline {
    const char *unit;                          /* what a column is: "label", "result" */
    const struct tms_timeline_column *columns; /* the oldest first */
    size_t column_count;
    size_t omitted;                              /* older columns that are not listed */
    const struct tms_timeline_finding *findings; /* in the order of strcmp of their ids */
    size_t finding_count;
};

/* The finding with an id, NULL: there is none. Thread-safe. Cost: the logarithm of their number. */
const struct tms_timeline_finding *tms_timeline_find(const struct tms_timeline *timeline,
                                                     const char *id);

/* A finished analysis, with the settings of its report. */
struct tms_export_part {
    const struct tms_analysis *analysis;
    const struct tms_report_settings *settings;
};

/*
 * Writes one document about all parts, which may have different contexts; `path` of the settings
 * tells them apart. A finding that another one represents (tms_finding.same_as, .judged) is left
 * out. With a timeline in the settings of the first part, "html" shows findings over time, "sarif"
 * who suppressed them and why, and all but "junit" have each finding once, as the first of the
 * parts has it that have the strongest evidence. TMS_OK; TMS_ERR_ARGUMENT: there is no such format;
 * TMS_ERR_IO: the sink stopped it; TMS_ERR_MEMORY. Thread-safe while the analyses do not change.
 * Cost: the number of findings times the logarithm of it, and for "html" the source files that they
 * name are read.
 */
int tms_export(const char *format, const struct tms_export_part *parts, size_t count,
               tms_sink *sink, void *user);

/*
 * Writes a JSON string, quotes included, as the "json" report does: names are bytes, and what
 * is not UTF-8 in them becomes U+FFFD. `text` is readable up to a zero byte, at `length` or
 * after it. False when the sink said so.
 */
bool tms_json_string(const char *text, size_t length, tms_sink *sink, void *user);

/*
 * Writes a name or path for a person to read: control characters, line ends among them, and what
 * is not UTF-8 become U+FFFD, so that nothing in it is obeyed by a terminal. `text` is readable up
 * to a zero byte, at `length` or after it. False when the sink said so.
 */
bool tms_printable_string(const char *text, size_t length, tms_sink *sink, void *user);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
