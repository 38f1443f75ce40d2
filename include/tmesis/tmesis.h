/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis finds atomicity violations: code that is meant to be atomic and was interleaved with
 * another thread.
 *
 * This is the only public header of libtmesis. Data flows as follows:
 *
 *     context ── names and the last error, shared by everything below
 *        ├── reader    a trace in any known format, as batches of events
 *        ├── writer    the same events out again
 *        └── analysis  events in, one result per engine out
 *
 * Conventions
 * - Functions that can fail return TMS_OK (0) or a negative code of TMS_ERRORS; tms_error(context)
 *   describes the failure in a sentence. The library never prints and never exits.
 * - Objects are opaque. The caller owns them until it calls their _free or _close function, and
 *   they must not outlive their context. The library owns the strings that it returns; they are
 *   valid as long as the object that they were obtained from, unless stated otherwise.
 * - There is no global state: contexts are independent, and different threads may use different
 *   contexts at the same time. A context and everything that belongs to it may be used by only one
 *   thread at a time.
 * - Costs are stated where they are not constant. "Cost: the number of findings" means time linear
 *   in that number.
 */
#ifndef TMESIS_TMESIS_H
#define TMESIS_TMESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Everything that is not declared here has hidden visibility. */
#pragma GCC visibility push(default)

#define TMS_VERSION_MAJOR 0
#define TMS_VERSION_MINOR 1
#define TMS_VERSION_PATCH 0

/* Returns the version of the linked library, such as "0.1.0". */
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

/* Returns the meaning of an error code, never NULL. */
const char *tms_strerror(int code);

/* ---- context -------------------------------------------------------------------------- */

struct tms_context;

/*
 * Receives warnings about problems that do not stop the work: skipped events of a lenient run, a
 * truncated file, a pattern that matches nothing. `message` is one sentence without a newline, and
 * is valid only during the call.
 */
typedef void tms_complain(void *user, const char *message);

/* Creates a context; returns NULL if out of memory. `complain` may be NULL. */
struct tms_context *tms_context_new(tms_complain *complain, void *user);
void tms_context_free(struct tms_context *context);

/* Returns the last failure as a sentence, "" if there was none. The next failure overwrites it. */
const char *tms_error(const struct tms_context *context);

/* ---- names ---------------------------------------------------------------------------- */

/* What a name can denote. Each class numbers its ids 1, 2, 3 … independently; 0 is "no name". */
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
 * Returns the id (> 0) of a name, which is added if it is new, or a negative code. A name must not
 * be empty. A location that is a plain decimal number below 2^31 ("17", not "017") takes no memory:
 * its id is TMS_LOCATION_NUMBER + 17.
 */
int64_t tms_intern(struct tms_context *context, enum tms_class cls, const char *name,
                   size_t length);

/*
 * Does the same for a name that the caller knows to be new, and skips the lookup, which dominates
 * the cost with millions of names. If the name exists after all, it then has two ids.
 */
int64_t tms_intern_new(struct tms_context *context, enum tms_class cls, const char *name,
                       size_t length);

#define TMS_LOCATION_NUMBER 0x80000000u

/*
 * Returns the name of an id, "" for 0 and for unknown ids. A numeric location has no stored text:
 * it is formatted into `buffer` (TMS_NUMBER_SIZE bytes), which may be NULL if cls is not
 * TMS_CLASS_LOCATION.
 */
#define TMS_NUMBER_SIZE 12
const char *tms_name(const struct tms_context *context, enum tms_class cls, uint32_t id,
                     char *buffer);

/* Returns the number of ids that a class has. */
uint32_t tms_name_count(const struct tms_context *context, enum tms_class cls);

/* ---- events --------------------------------------------------------------------------- */

/*
 * X(name, text in traces, class of the operand). The operand of begin and end is optional; clear,
 * delay and fence have none.
 *
 * Only `judge` uses the kinds from call to delay; all other engines ignore them, but take demote as
 * end.
 *
 * Atomic accesses and fences have a memory order (TMS_ORDERS). The engines that detect races,
 * predict or judge distinguish atomic accesses; to the others an atomic access is a plain one, and
 * a fence is ignored.
 *
 * send and receive are communication between threads through the operating system. The engines that
 * detect races or predict take them as happens-before edges; all others ignore them.
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
    X(CALL, "call", LABEL)      /* a function that is not assumed atomic begins */                 \
    X(RETURN, "return", LABEL)  /* … or ends */                                                  \
    X(DEMOTE, "demote", LABEL)  /* end; the function goes on as if begun by call */                \
    X(CLEAR, "clear", NONE)     /* a rendezvous: the thread waited for another one */              \
    X(RETRY, "retry", VARIABLE) /* a compare-and-swap of the variable failed */                    \
    X(DELAY, "delay", NONE)     /* tmesis delayed the thread */                                    \
    X(ATOMIC_READ, "ar", VARIABLE)                                                                 \
    X(ATOMIC_WRITE, "aw", VARIABLE)                                                                \
    X(ATOMIC_UPDATE, "au", VARIABLE)                                                               \
    X(FENCE, "fence", NONE)                                                                        \
    X(SEND, "send", CHANNEL)                                                                       \
    X(RECEIVE, "receive", CHANNEL) /* ordered after everything sent so far */                      \
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

/* Memory orders as in C11; consume counts as acquire. Other event kinds have TMS_ORDER_NONE. */
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

/* Returns the memory orders that events of a kind can have, as a mask of 1 << enum tms_order. */
unsigned tms_event_orders(enum tms_event_kind kind);

/* One event. Its number is its position in the trace, counted from 1, and is not stored. */
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
    const char *format; /* "std", "rr", "regiontrack", "tms"; NULL: detect it from the content */
    bool lenient;       /* skip what can't be parsed, with a warning to `complain` */
};
void tms_reader_settings_init(struct tms_reader_settings *settings);

/*
 * Opens a trace; "-" is standard input. Gzip and zstd compression are detected from the content.
 * Memory is bounded by the names in the trace. `settings` may be NULL.
 */
int tms_reader_open(struct tms_context *context, const char *path,
                    const struct tms_reader_settings *settings, struct tms_reader **out);

/*
 * Reads the next batch of events. Returns their number (> 0) and sets *events, or returns 0 at the
 * end of the trace, or a negative code. The reader owns *events, which are valid until the next
 * call.
 */
int64_t tms_reader_next(struct tms_reader *reader, const struct tms_event **events);

/*
 * Returns the position of event `index` of the last batch for messages, as "FILE:LINE" or "FILE,
 * event N". Valid until the next call.
 */
const char *tms_reader_where(struct tms_reader *reader, size_t index);

const char *tms_reader_path(const struct tms_reader *reader);
const char *tms_reader_format(const struct tms_reader *reader);

/*
 * For progress display: returns the number of bytes read from the file so far, and sets *size to
 * the size of the file, or to 0 if it has none.
 */
uint64_t tms_reader_position(const struct tms_reader *reader, uint64_t *size);

/*
 * Returns a sentence about what could not be read so far (a truncated file, skipped lines), or
 * NULL.
 */
const char *tms_reader_loss(const struct tms_reader *reader);

void tms_reader_close(struct tms_reader *reader);

/* ---- traces out ----------------------------------------------------------------------- */

struct tms_writer;

struct tms_writer_settings {
    const char *format;      /* NULL: chosen by the extension of the path */
    const char *compression; /* "none", "gz", "zst"; NULL: by the extension. Not for tms */
    int level;               /* zstd or gzip level, 0: the format's default */
    int descriptor;          /* writes to it and leaves it open; 0: creates the file */
    bool no_accesses;        /* perfetto only: omits accesses; other events keep their numbers */
};
void tms_writer_settings_init(struct tms_writer_settings *settings);

/*
 * Creates or replaces a trace file; "-" is standard output. The data is first written to
 * "PATH.PID~" in the same directory, and renamed to PATH when the writer is closed without an
 * error. A FIFO, a device and the path of an open descriptor are written directly. `settings` may
 * be NULL.
 */
int tms_writer_open(struct tms_context *context, const char *path,
                    const struct tms_writer_settings *settings, struct tms_writer **out);
int tms_writer_write(struct tms_writer *writer, const struct tms_event *events, size_t count);

/*
 * Marks the trace as incomplete. `loss` gives the reason, a sentence without its full stop, which
 * tms_reader_loss reports when the file is read.
 */
void tms_writer_lost(struct tms_writer *writer, const char *loss);

/*
 * Completes the file and frees the writer, even if it returns an error. After an error nothing of
 * the new file is left, and an existing file at its path is unchanged.
 */
int tms_writer_close(struct tms_writer *writer);

/* Discards the file and frees the writer, as tms_writer_close does after an error. */
void tms_writer_abandon(struct tms_writer *writer);

/* A trace format. tms_format_info returns the index-th one, NULL after the last. */
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
    X(AT_EVENT, 2, "at-event")         /* names the exact event that closes the first cycle */     \
    X(BLAMES, 4, "blames")             /* names the transactions that are not atomic, exactly */   \
    X(WITNESS, 8, "witness")           /* every violation carries its cycle */                     \
    X(PREDICTIVE, 16, "predictive")    /* reasons about schedules other than the observed one */   \
    X(BOUNDED, 32, "bounded")          /* memory does not grow with the length of the trace */     \
    X(SMALL, 64, "small-traces")       /* refuses traces beyond a documented size */               \
    X(BLAMES_SOME, 128, "blames-some") /* names only such transactions, perhaps not all */         \
    X(NO_ACCESSES, 256, "no-accesses") /* needs no memory accesses, so it works on any program */

enum tms_engine_flag {
#define X(name, value, text) TMS_ENGINE_##name = value,
    TMS_ENGINE_FLAGS(X)
#undef X
};

struct tms_engine_info {
    const char *name;
    const char *summary;   /* one line */
    const char *paper;     /* where the algorithm is published or documented */
    const char *guarantee; /* what its verdict means, a sentence for reports */
    const char *reports;   /* when it reports a violation: "at the event", … */
    const char *time;      /* complexity */
    const char *memory;
    unsigned flags;
    uint8_t found; /* enum tms_verdict: its verdict if it found something, … */
    uint8_t clean; /* … and if it processed everything and found nothing */
};

/* Returns the index-th engine in order of preference, NULL after the last. */
const struct tms_engine_info *tms_engine_info(size_t index);

/* ---- specifications ------------------------------------------------------------------- */

/*
 * A specification says which blocks are meant to be atomic. It is a list of rules; the last rule
 * that matches decides. A pattern is a glob on the label (`*`, `?`, `[a-z]`, `[!x]`, `\` to escape
 * a character). A label with parameters is matched with and without them, a pattern that equals the
 * label always matches, and `""` matches blocks without a label. Blocks that no rule matches are
 * not atomic if there is an "atomic" rule. Otherwise the default applies to them: every block and
 * every function is atomic, except functions called `main` and, in RoadRunner logs, `run`.
 *
 * A specification belongs to a context, which keeps its errors, but analyses of other contexts may
 * use it, one at a time.
 */
struct tms_spec;

int tms_spec_new(struct tms_context *context, struct tms_spec **out);

/*
 * Appends one rule; copies the pattern. Returns TMS_ERR_ARGUMENT if the pattern is empty or ends
 * with a single backslash.
 */
int tms_spec_add(struct tms_spec *spec, bool atomic, const char *pattern);

/*
 * Appends the rules of a file; "-" is standard input. A line is "atomic PATTERN" or "not-atomic
 * PATTERN"; "#" at the start of a line or after a blank begins a comment. If the file has an error,
 * none of its rules is added.
 */
int tms_spec_load(struct tms_spec *spec, const char *path);

/*
 * Returns the pattern of the index-th rule as tms_spec_add takes it, NULL after the last, and sets
 * *atomic. Valid until a rule is added.
 */
const char *tms_spec_rule(const struct tms_spec *spec, size_t index, bool *atomic);

/*
 * Returns the index-th pattern that has matched no label so far, worded for a message (with file
 * and line if it came from a file); NULL after the last. Valid until the next call.
 */
const char *tms_spec_unmatched(struct tms_spec *spec, size_t index);

void tms_spec_free(struct tms_spec *spec);

/* ---- suppressions --------------------------------------------------------------------- */

/*
 * Rules that suppress findings (docs/user/suppressions.md). A pattern is a glob as in
 * specifications. X(name, text in files): the function of the block; a lock, whose operations are
 * then ignored; a variable or the object that contains it; the source file of the block or of one
 * of its events; the program or shared library of one of its events; the id of the finding.
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
 * A list of rules. It belongs to a context, which keeps its errors. Analyses of other contexts may
 * use it, but only one at a time, because matching records which rules were used.
 */
struct tms_suppressions;

int tms_suppressions_new(struct tms_context *context, struct tms_suppressions **out);

/*
 * Appends one rule; copies the pattern. Returns TMS_ERR_ARGUMENT if the pattern is empty or ends
 * with a single backslash, or if it has to be an id (AV- and hexadecimal digits) and is not.
 */
int tms_suppressions_add(struct tms_suppressions *suppressions, enum tms_suppression kind,
                         const char *pattern);

/*
 * Appends the rules of a file; "-" is standard input. A line is "block PATTERN" and so on, or "id
 * AV-3f2a91"; "#" at the start of a line or after a blank begins a comment. If the file has an
 * error, none of its rules is added.
 */
int tms_suppressions_load(struct tms_suppressions *suppressions, const char *path);

struct tms_finding;

/*
 * Returns whether a rule matches the finding, and marks every rule that does as used. The names in
 * the finding are those of the context `names`. An analysis with suppressions in its settings calls
 * this itself. Cost: the number of rules times the length of the cycle.
 */
bool tms_suppressions_match(struct tms_suppressions *suppressions, const struct tms_context *names,
                            const struct tms_finding *finding);

/*
 * Returns the index-th rule that has matched nothing so far, worded for a message (with file and
 * line if it came from a file); NULL after the last. Valid until the next call.
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

/* What `sidetrack` takes into account beyond locks, forks and joins. */
#define TMS_PREDICTS(X)                                                                            \
    X(SHARED, 1, "shared")      /* shared locks */                                                 \
    X(BARRIER, 2, "barrier")    /* a barrier orders what precedes and follows it */                \
    X(WAIT, 4, "wait")          /* a wait releases its lock and acquires it again */               \
    X(ATOMIC, 8, "atomic")      /* atomic accesses order; read-modify-writes also form windows */  \
    X(VARIABLE, 16, "variable") /* windows of two accesses to a variable with a lock of its own */ \
    X(PAIR, 32, "pair")         /* windows between sections of two locks */

enum tms_predict {
#define X(name, value, text) TMS_PREDICT_##name = value,
    TMS_PREDICTS(X)
#undef X
};

/* How the lockset engines decide whether two threads may race on a variable. */
#define TMS_RACE_TESTS(X)                                                                          \
    X(DEFAULT, "default") /* of the engine: reduction multilockset, atomizer praun-gross */        \
    X(MULTILOCKSET, "multilockset") /* Wang and Stoller, figure 3 */                               \
    X(ERASER, "eraser")                                                                            \
    X(PRAUN_GROSS, "praun-gross") /* ownership may be transferred once before locks count */       \
    X(ATOMIZER, "atomizer")       /* a lockset for all accesses, one for writes */

enum tms_race_test {
#define X(name, text) TMS_RACE_##name,
    TMS_RACE_TESTS(X)
#undef X
};

/* When the lockset engines start to consider a variable shared. */
#define TMS_ESCAPES(X)                                                                             \
    X(AUTO, "auto")     /* at the `escape` event, or the first access by a second thread */        \
    X(EVENTS, "events") /* at the `escape` event only */                                           \
    X(OFF, "off")       /* from the start */

enum tms_escape {
#define X(name, text) TMS_ESCAPE_##name,
    TMS_ESCAPES(X)
#undef X
};

/* The theorem of Wang and Stoller that `blocks` applies. */
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
    const char *engines;     /* comma-separated names, "all", or "" for none (validate only) */
    bool blame;              /* determine which transactions are not atomic themselves */
    bool all;                /* list every violation, don't group them by pattern */
    bool first;              /* stop at the first violation */
    bool lenient;            /* skip events that are not well-formed, with a warning */
    unsigned split;          /* mask of enum tms_split: what splits a block in two */
    struct tms_spec *spec;   /* which blocks are meant to be atomic; NULL: the default. Must outlive
                                the analysis */
    double timeout;          /* seconds after which an engine gives up; 0: no limit */
    uint64_t max_violations; /* the most findings listed per engine; 0: no limit */
    unsigned predict;        /* mask of enum tms_predict: extensions of sidetrack */
    enum tms_race_test race_test;
    enum tms_escape escape;
    enum tms_blocks blocks;
    bool periods; /* lockset engines: accesses that fork, join or barrier order do not interleave */
    bool acq_rel; /* reduction: a critical section may move as a whole (theorem 2, AcqA*Rel) */
    bool expect_blocks; /* without any block, verdicts about blocks are incomplete */
    /*
     * Findings that a rule matches are marked as suppressed by tms_analysis_finish and
     * tms_analysis_resolve; operations on locks that a rule matches are ignored. NULL: none. Must
     * outlive the analysis.
     */
    struct tms_suppressions *suppressions;
    /*
     * Lets some engines run on a second thread; the first engine stays on the calling thread. The
     * thread starts during a feed, blocks all signals, and has ended when tms_analysis_finish or
     * tms_analysis_free returns. Do not fork in between. Results are the same.
     */
    bool parallel;
};
/*
 * Sets the defaults: engine frontier, blame, grouped findings, the whole trace, strict, split at
 * wait and barrier, one thread; all extensions of sidetrack except windows of variables; everything
 * that reduces the false alarms of the lockset engines; theorem 4 for blocks.
 */
void tms_settings_init(struct tms_settings *settings);

struct tms_analysis;

/*
 * Creates an analysis. Copies the settings, except the objects that must outlive the analysis.
 * Returns TMS_ERR_ARGUMENT if settings.engines names no known engine.
 */
int tms_analysis_new(struct tms_context *context, const struct tms_settings *settings,
                     struct tms_analysis **out);

/* Feeds the analysis a whole trace, or the rest of it, and finishes the analysis. */
int tms_analysis_read(struct tms_analysis *analysis, struct tms_reader *reader);

/*
 * Feeds the analysis some events, whose ids come from tms_intern; event kinds and ids are
 * validated. `reader` is used for positions in messages if the events are the last batch of a
 * reader, and is NULL otherwise. Returns 1 if the analysis needs no more events (see
 * tms_settings.first), else 0 or a negative code. Cost: linear in `count`, with no allocation per
 * event.
 */
int tms_analysis_feed(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                      struct tms_reader *reader);

/*
 * Declares that events are missing; `loss` gives the reason, a sentence without its full stop. A
 * result without a violation then has the verdict "incomplete". NULL: nothing is missing. Call it
 * before tms_analysis_finish.
 */
void tms_analysis_lost(struct tms_analysis *analysis, const char *loss);

/*
 * Sets the number of outermost blocks that were executed, for event streams that omit blocks which
 * cannot affect the engines. Reports then state this number, and no number of events. Call it
 * before tms_analysis_finish.
 */
void tms_analysis_counted(struct tms_analysis *analysis, uint64_t transactions);

/*
 * Declares that a block with this label may be several blocks that were mistaken for one.
 * Predictions about such blocks become "potential", with `why` as their caveat: a sentence without
 * its full stop, which must outlive the analysis. Call it before the first event with that label.
 * Returns TMS_OK or TMS_ERR_MEMORY.
 */
int tms_analysis_doubt(struct tms_analysis *analysis, uint32_t label, const char *why);

/* Ends the input and completes the results. */
int tms_analysis_finish(struct tms_analysis *analysis);

void tms_analysis_free(struct tms_analysis *analysis);

/* Returns the context that the analysis was created with, which has the names in its results. */
struct tms_context *tms_analysis_context(const struct tms_analysis *analysis);

/* ---- results -------------------------------------------------------------------------- */

/* Counts over the whole trace; threads, variables and locks are the names known to the context. */
struct tms_trace_summary {
    uint64_t events;
    uint64_t threads, variables, locks;
    uint64_t transactions; /* outermost blocks */
    uint64_t not_atomic;   /* blocks and functions that are not meant to be atomic */
    uint64_t unary;        /* events outside any atomic block */
    uint64_t skipped;      /* events that a lenient run left out */
    bool rough;            /* events (if 0), variables, locks and unary were not counted */
    double seconds;        /* from the first event until the analysis finished, engines included */
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

/* What orders the two events of a step. */
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

/* A transaction. A unary transaction is a single event outside any block, its begin_event. */
struct tms_transaction {
    uint64_t begin_event;
    uint32_t thread;
    uint32_t label;    /* TMS_CLASS_LABEL, 0 if the block has none */
    uint32_t location; /* of the begin event, 0 if unknown */
    bool unary;
};

/*
 * One step of a cycle: the event `first` of `from` conflicts with the later `second` of `to`. Later
 * refers to the trace or, in a finding that was not observed, to the predicted schedule.
 */
#define TMS_STACK_FIELDS 5
struct tms_step {
    struct tms_transaction from, to;
    uint64_t first_event, second_event;
    uint32_t first_location, second_location;
    /*
     * The call stacks of the two events, 0 if unknown. The name of a TMS_CLASS_STACK has one line
     * per frame, innermost first. A line has the fields function, file, line number, source line,
     * and program or shared library, separated by tabs; an unknown field is empty. The first line
     * may have one more field: the instruction, as "bank+0x12ab".
     */
    uint32_t first_stack, second_stack;
    uint32_t on;       /* what they conflict on, of class on_class; 0 for program order */
    uint32_t on_alias; /* a stable name to derive ids of findings from, if the name of `on` contains
                          line numbers or addresses; 0: none */
    uint8_t on_class;  /* enum tms_class */
    uint8_t kind;      /* enum tms_edge_kind */
    uint8_t first_kind; /* enum tms_event_kind */
    uint8_t second_kind;
};

/* An event in a schedule that was not observed. */
struct tms_turn {
    uint64_t event; /* its number in the trace */
    uint32_t thread;
    uint32_t target;   /* of the class tms_event_class(kind) */
    uint32_t location; /* 0 if unknown */
    uint32_t stack;    /* TMS_CLASS_STACK, 0 if unknown */
    uint8_t kind;      /* enum tms_event_kind */
    const char *role;  /* a few words on its role in the schedule; NULL: none of its own */
};

/* The severity of a judged finding, in the terms of SARIF. */
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
 * block). The headline of a finding states the first of its patterns in this order.
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
 * The assessment of a finding by `judge`: a block whose data was affected. The events are those of
 * the first occurrence of `pattern`, at the level that the finding ended up with.
 */
struct tms_judgement {
    enum tms_level level;
    unsigned patterns;        /* mask of 1 << enum tms_pattern: all that occurred */
    enum tms_pattern pattern; /* the one that `own` and `foreign` show */
    uint32_t variable;        /* TMS_CLASS_VARIABLE: the bytes in question; 0: no data */
    uint32_t other;           /* the second variable of a pattern that has two, else 0 */
    const char *object; /* the object of `variable` (or `lock`) as declared, without the field */
    const char *other_object; /* the object of `other`; NULL: none */
    uint64_t executions;      /* executions of the block in this run, … */
    uint64_t cut;             /* … and how many of them showed this finding */
    uint64_t processes;       /* number of processes in which it occurred, at least 1 */
    bool driver;              /* the block is a driver, … */
    bool interleaved; /* … and most of its executions are interleaved: a note for that reason */
    const struct tms_turn *own; /* the two steps of the block */
    size_t own_count;
    const struct tms_turn *foreign; /* the steps of another thread between them */
    size_t foreign_count;
    struct tms_transaction culprit;      /* the block that `foreign` belongs to; unary: none */
    const struct tms_transaction *outer; /* enclosing blocks, also interleaved, innermost first */
    size_t outer_count;
    uint32_t lock; /* TMS_CLASS_LOCK: held at the first step, released before the second; 0: none */
    struct tms_turn given_up; /* the release of `lock`; event 0: unknown */
};

/* A violation, or all violations with the same static pattern. */
struct tms_finding {
    const char *id; /* "AV-3f2a91": a hash of names only */
    const char
        *kind; /* "cycle" for the exact engines; "before", "in", "after", "pair" for
                  sidetrack, "pattern" for blocks, "reduction", "race", "deadlock" for others */
    enum tms_evidence evidence;
    uint64_t count;  /* how many violations it represents; the fields below describe the first */
    uint64_t event;  /* the event that closed the cycle */
    uint32_t thread; /* of that event */
    bool not_atomic; /* the transaction itself is not atomic; valid only with blame */
    struct tms_transaction transaction; /* the one in which the cycle closed */
    const struct tms_step *cycle;       /* starts and ends at `transaction`; may be NULL */
    size_t cycle_length;
    /*
     * If the transaction is not atomic: the refuted blocks, outermost (the transaction's own)
     * first. A block is refuted if it is open at both the first and the last event of the cycle in
     * the transaction. NULL if the engine does not blame.
     */
    const struct tms_transaction *refuted;
    size_t refuted_count;
    const uint32_t *held; /* TMS_CLASS_LOCK: known locks that `thread` held at `event` */
    size_t held_count;
    /*
     * If the finding was not observed: its events, in the order of the predicted schedule. NULL if
     * the cycle says everything.
     */
    const struct tms_turn *schedule;
    size_t schedule_length;
    const char *caveat; /* a reason to doubt this finding: NULL, or a sentence */
    /*
     * The id of the same finding by another engine, which has stronger evidence or more details.
     * NULL: there is no better one.
     */
    const char *same_as;
    const struct tms_judgement *judgement; /* set in findings of `judge`, else NULL */
    const char *judged; /* in other findings: id of the one of `judge` about it; NULL: none */
    uint64_t processes; /* in a merged result: the number of processes that showed it; else 0 */
    uint64_t runs;      /* in a result over many runs: how many showed it (0: a single run), … */
    uint64_t failed_runs; /* … how many of these failed, … */
    uint64_t first_seed;  /* … and the seed of the first that showed it */
    uint64_t rank;        /* its rank in a result over many runs, from 1; 0: reports choose */
    bool known;      /* a baseline contains its blocks, at least as severe (tms_baseline_mark) */
    bool suppressed; /* a rule of settings.suppressions matches it */
    const char *process; /* in a merged result: the first process that showed it; NULL: unknown */
};

/* A statistics counter of an engine, shown by --stats. */
struct tms_counter {
    const char *name;
    const char *meaning;
    uint64_t value;
};

struct tms_result {
    const struct tms_engine_info *engine;
    enum tms_verdict verdict;
    bool complete;          /* no input was lost */
    const char *loss;       /* why it is not complete: a sentence, else NULL */
    const char *assumption; /* what they assume, and whether it was checked: NULL, or a sentence */
    bool blamed;            /* not_atomic of the findings is valid */
    uint64_t first_violation_event;     /* 0: none */
    const struct tms_finding *findings; /* sorted by event */
    size_t finding_count;
    uint64_t unlisted;      /* findings beyond max_violations */
    uint64_t known;         /* further findings at the end of the list: those in a baseline */
    uint64_t suppressed;    /* further findings after these: those that a rule suppresses */
    uint64_t violations;    /* transactions in which a cycle closed, or which are blamed */
    uint64_t closing_edges; /* all edges that closed a cycle */
    uint64_t events;        /* processed by the engine: all of them unless it gave up */
    double seconds;         /* spent in the engine */
    uint64_t memory_bytes;  /* peak memory of the engine */
    const struct tms_counter *counters;
    size_t counter_count;
};

void tms_analysis_summary(const struct tms_analysis *analysis, struct tms_trace_summary *out);

/*
 * Returns the result of the index-th engine, in the order of settings.engines; NULL after the last.
 */
const struct tms_result *tms_analysis_result(const struct tms_analysis *analysis, size_t index);

/*
 * Violations found outside the library by the algorithm of `frontier`, such as by the runtime in a
 * watched program. The fields `id`, `kind` and `evidence` of the findings are ignored; the evidence
 * is always TMS_EVIDENCE_OBSERVED. Names are those of the context.
 */
struct tms_observation {
    struct tms_trace_summary summary;
    const struct tms_finding *findings;
    size_t finding_count;
    uint64_t first_violation_event; /* 0: none */
    uint64_t violations;            /* as in tms_result; at least the sum of the findings' counts */
    uint64_t closing_edges;
    uint64_t memory_bytes;
    const char *loss; /* why it can't be complete: NULL, or a sentence */
};

/*
 * Adds an observation to an unfinished analysis as its first result, as if its own `frontier` had
 * found it: grouped, listed and given ids according to the settings. The summary of the observation
 * replaces the counts of the events fed. Copies everything. Call it once, after the last event;
 * `frontier` must not be among the engines of the analysis. Returns TMS_OK, TMS_ERR_ARGUMENT or
 * TMS_ERR_MEMORY.
 */
int tms_analysis_observe(struct tms_analysis *analysis, const struct tms_observation *observation);

/*
 * Data races found outside the library by the rules of `fasttrack`. The cycle of a finding is one
 * step: its two accesses. Otherwise as in struct tms_observation.
 */
struct tms_observed_races {
    const struct tms_finding *findings;
    size_t finding_count;
    uint64_t first_race_event; /* 0: none */
    uint64_t races;            /* pairs of accesses; at least the sum of the findings' counts */
    uint64_t events;
    double seconds;
    const char *loss; /* why it can't be complete: NULL, or a sentence */
};

/*
 * Adds these races to an analysis as its last result. Copies everything. Call it once, after
 * tms_analysis_observe; `fasttrack` must not be among the engines of the analysis. Returns TMS_OK,
 * TMS_ERR_ARGUMENT or TMS_ERR_MEMORY.
 */
int tms_analysis_observe_races(struct tms_analysis *analysis,
                               const struct tms_observed_races *races);

/*
 * Creates a finished analysis with the observation as its only result, a result of `frontier`, as
 * tms_analysis_observe adds it. Of the settings only blame, all and max_violations are used. Copies
 * everything.
 */
int tms_analysis_observed(struct tms_context *context, const struct tms_settings *settings,
                          const struct tms_observation *observation, struct tms_analysis **out);

/*
 * Evidence collected outside the library by the tables of `judge` (docs/user/judge.md), such as by
 * the runtime in a watched program. Decisions that need line numbers are still open: for two reads
 * in one place the pattern is changed-between-reads or rechecked.
 */
struct tms_judged_evidence {
    enum tms_pattern pattern;
    bool mild;                /* a note, whatever the pattern */
    bool firm;                /* two variables: more than a note unless `culprit` is a driver */
    uint32_t culprit;         /* label, if firm */
    uint32_t place;           /* location of the second step if it reads with a lock held, else 0 */
    uint64_t count;           /* occurrences; the other fields describe the first */
    uint32_t finding;         /* equal numbers: the same block and objects in that program, … */
    uint64_t cut;             /* … interleaved in this many executions known at that time */
    uint32_t variable, other; /* TMS_CLASS_VARIABLE; other is 0 for a pattern of one variable */
    struct tms_turn own[2], foreign[2]; /* one variable: foreign[1] is unused */
    struct tms_turn given_up;           /* the release between the steps; event 0: none */
    struct tms_transaction block, foreign_block;
    const struct tms_transaction *outer; /* the enclosing activations, innermost first */
    size_t outer_count;
};

/* The counts of a block, defined in docs/user/judge.md, "Executions and drivers". */
struct tms_judged_block {
    uint32_t label;
    uint64_t executions, same, busy, ended, counted, counted_cut;
};

/* A variable that is accessed while holding `lock`, acquired at `location`. */
struct tms_judged_member {
    uint32_t lock, location, variable;
    unsigned kinds; /* mask: 2 read, 4 written, 8 updated */
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
    bool watched;     /* memory accesses were recorded, so a finding without data really has none */
    const char *loss; /* what of the evidence is missing, a sentence; NULL: nothing */
};

/*
 * Declares that tms_analysis_judge will supply the findings of `judge`: the engine gets no events.
 * Call it before the first event.
 */
int tms_analysis_judge_elsewhere(struct tms_analysis *analysis);

/*
 * Supplies the findings of `judge`. Copies everything. Call it once, before tms_analysis_finish.
 * TMS_ERR_ARGUMENT: evidence or a member has no variable, a pattern, kind or name is unknown, or a
 * block has more of what ended than executions, or more of what was counted than ended.
 */
int tms_analysis_judge(struct tms_analysis *analysis, const struct tms_judging *judging);

/* An event of a running program and its transaction. */
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

/*
 * A violation predicted outside the library by the rules of `sidetrack`: a window of two acquires,
 * and the culprit that can run in between.
 */
struct tms_predicted {
    uint8_t kind;      /* enum tms_predicted_kind: where the culprit was seen */
    bool rough;        /* the predicted schedule may deadlock */
    uint64_t count;    /* how often it was predicted */
    uint32_t on;       /* TMS_CLASS_LOCK */
    uint32_t on_alias; /* see struct tms_step */
    struct tms_predicted_event first, culprit, second;
    /*
     * TMS_PREDICTED_PAIR, whose first acquire is of another lock: that lock, and the event that
     * acquired it afterwards.
     */
    uint32_t first_on, first_alias;
    struct tms_predicted_event through;
    const struct tms_transaction *refuted; /* see struct tms_finding; empty: only the transaction */
    size_t refuted_count;
};

/* A lock that was held. Locks are numbered from 0. */
struct tms_lock_hold {
    uint32_t lock;
    bool shared;
    struct tms_predicted_event taken;
};

/* A node of the cycles of `goodlock`: a thread requested a lock or joined another thread. */
struct tms_lock_request {
    struct tms_predicted_event wants;
    bool join, shared;
    uint32_t wanted; /* the number of a lock, or a TMS_CLASS_THREAD */
    const struct tms_lock_hold *held;
    size_t held_count;
    /*
     * Its period. A line is a sequence of threads that run one after the other. knows[l] is the
     * event up to which line l has ended in every reordering of the same steps. Line 0 is none.
     */
    uint32_t line;
    const uint64_t *knows;
    size_t knows_count;
};

/* All predictions that a program made. */
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
 * Supplies the predictions of `sidetrack` and the lock requests of `goodlock` to whichever of the
 * two are engines of the analysis. Copies everything. Call it once, before tms_analysis_finish; the
 * analysis must not be fed events. Returns TMS_OK, TMS_ERR_ARGUMENT or TMS_ERR_MEMORY.
 */
int tms_analysis_predict(struct tms_analysis *analysis, const struct tms_predictions *predictions);

/*
 * Merges the results of a finished analysis into another one, such as those of the processes of one
 * run. `into` must have been created without engines (settings.engines "") and must not be fed
 * events; each engine gets one result there. Findings of `judge` about the same function and
 * objects are merged, and so are findings of other engines with the same id or about the same
 * blocks: their counts are added, and tms_finding.processes is the number of analyses that have
 * them. Copies everything; the contexts may differ. After an error `into` can only be freed. Cost:
 * the number of findings.
 */
int tms_analysis_merge(struct tms_analysis *into, const struct tms_analysis *from);

/* Saved results, such as those of a JSON file. */
struct tms_restored {
    struct tms_trace_summary summary;
    const struct tms_result *results; /* at most one per engine */
    size_t result_count;
    const char *loss; /* why no verdict can be complete: NULL, or a sentence */
};

/*
 * Creates a finished analysis from saved results, so that they can be reported. Names are those of
 * the context. Copies the array of results; the caller owns what it points to, which must outlive
 * the analysis. Returns TMS_ERR_ARGUMENT if two results are of the same engine.
 */
int tms_analysis_restore(struct tms_context *context, const struct tms_restored *restored,
                         struct tms_analysis **out);

/*
 * Returns the call stack of an event (see struct tms_step), 0 if unknown. tms_analysis_resolve
 * calls it for the events of all findings of a finished analysis and sets their stacks.
 */
typedef uint32_t tms_stack_of(void *user, uint64_t event);
void tms_analysis_resolve(struct tms_analysis *analysis, tms_stack_of *stack_of, void *user);

/*
 * Returns why no verdict can be complete, as a sentence (skipped events, a truncated trace), or
 * NULL.
 */
const char *tms_analysis_loss(const struct tms_analysis *analysis);

/* ---- baselines ------------------------------------------------------------------------ */

/*
 * A baseline holds the blocks of earlier results, each with its most severe finding. A finding is
 * new if the baseline lacks one of its blocks, or has it with a lower level (`judge`) or weaker
 * evidence (other engines). Blocks are compared by function, without template arguments and clone
 * suffixes (docs/user/judge.md); races and deadlocks are compared by id. A baseline belongs to a
 * context, which keeps its errors.
 */
struct tms_baseline;

int tms_baseline_new(struct tms_context *context, struct tms_baseline **out);

/*
 * Adds the blocks of a finding, whose names are those of the context `names`. Returns TMS_OK or
 * TMS_ERR_MEMORY.
 */
int tms_baseline_add(struct tms_baseline *baseline, const struct tms_context *names,
                     const struct tms_finding *finding);

/*
 * Sets tms_finding.known in all results of a finished analysis of any context, and moves the known
 * findings to the end of the list, where tms_result.known counts them and finding_count does not.
 * Nothing can be merged into the analysis afterwards. Returns the number of known findings, or
 * TMS_ERR_MEMORY. Cost: the number of findings.
 */
int64_t tms_baseline_mark(struct tms_baseline *baseline, struct tms_analysis *analysis);

void tms_baseline_free(struct tms_baseline *baseline);

/* ---- reports -------------------------------------------------------------------------- */

/* Receives the text of a report in pieces; returns false to stop, such as after a write error. */
typedef bool tms_sink(void *user, const char *text, size_t length);

/* What a run of a program covered; defined in docs/user/runtime.md. */
struct tms_coverage {
    bool known;
    uint64_t functions_shared; /* functions that accessed memory of another thread, … */
    uint64_t functions_met;    /* … and those that ran while its block was running */
};

/* A source position; ids of the context, 0: unknown. */
struct tms_window_place {
    uint32_t location;
    uint32_t stack; /* TMS_CLASS_STACK */
};

#define TMS_JUDGED_ID_SIZE 16

/*
 * Two accesses of a block to the same memory, or two acquires of the same lock, where other threads
 * use that memory or lock too. A schedule can suspend a thread in between (docs/user/schedules.md).
 */
struct tms_window {
    char id[TMS_JUDGED_ID_SIZE];             /* the id that a finding of `judge` would have */
    struct tms_transaction block;            /* its label and location */
    uint32_t target;                         /* the variable, or the lock */
    bool lock;                               /* `target` is a lock */
    bool guarded;                            /* the thread holds some lock throughout */
    struct tms_window_place open, close, at; /* first access, where to suspend, second */
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
 * Computes the id that a finding of `judge` has which is about one variable or lock in a block with
 * this label, unless a collision in its result makes ids longer. Sets `id` to "" if out of memory.
 * Cost: the length of the names.
 */
void tms_judged_id(const char *label, const char *variable, char id[TMS_JUDGED_ID_SIZE]);

/*
 * The times of an engine over several passes, as tmesis check --repeat and --until-first measure
 * them (docs/research/reproducing.md). Plain data that the caller fills in.
 */
struct tms_timing {
    uint64_t runs;              /* measured passes, at least 1 */
    double least, median, most; /* seconds in the engine, as tms_result.seconds */
    double pass;      /* median seconds of a whole pass: reading, validation and engines */
    uint64_t events;  /* processed by the engine */
    bool until_first; /* the engine ran alone and stopped at its first violation */
};

struct tms_report_settings {
    const char *path;   /* the trace as the user named it, or the command line of a program */
    const char *format; /* the format of the trace; TMS_FORMAT_LIVE: a watched program */
    const char *blocks; /* what was assumed atomic, a sentence; NULL: the blocks of the trace */
    bool color;         /* text: terminal colours */
    bool stats;         /* text: engine counters; JSON always has them */
    bool quiet;         /* only the verdict line */
    bool potential;     /* text: list potential findings; otherwise it only counts them */
    bool races;         /* text: list data races; otherwise it only counts them */
    bool notes;         /* text: list notes of `judge`; otherwise it only counts them */
    bool locks_only;    /* the program's accesses were not watched: nothing is said about data */
    bool verbose;       /* everything in full: call stacks, guarantees, no limit on lines */
    const char *strip_prefix; /* text: a directory to omit from paths; NULL: none */
    const char *command;      /* the command that runs the program again; NULL: `path` */
    unsigned width;           /* text: columns, at least 40; 0: 80 */
    double started;     /* seconds since 1970; 0: unknown. This and what follows is for JSON */
    double seconds;     /* run time of the program; 0: that of the summary */
    const char *host;   /* host that it ran on; NULL: unknown */
    uint64_t seed;      /* seed of its delays, … */
    bool seeded;        /* … if it was delayed at all */
    bool baseline;      /* findings were compared with a baseline (tms_baseline_mark) */
    uint64_t processes; /* number of processes of a merged result (tms_analysis_merge), else 0 */
    bool partial;       /* the program is still running: this is not its last result */
    uint64_t runs;      /* number of runs of a result over many; 0: a single run */
    bool ended;         /* the program has ended, … */
    int exit_status;    /* … with this status unless … */
    int exit_signal;    /* … a signal ended it: its number, else 0 */
    struct tms_coverage coverage;        /* of a program */
    const struct tms_steering *steering; /* of a program; NULL: it was not steered */
    const struct tms_timeline *timeline; /* for tms_export: earlier results; NULL: none */
    const struct tms_timing *timings;    /* for "table" and "json": one per result, … */
    size_t timing_count;  /* … in the same order, owned by the caller; 0: a single pass */
    uint64_t failed_runs; /* for tms_export: of `runs`, in which the program failed, … */
    const char *failures; /* … and how, "SIGABRT, status 3"; NULL: unknown */
    const char *version;  /* of the tmesis that made the result; NULL: unknown */
    const char *unread;   /* why the trace could not be read: there are no results; NULL: it was */
};
#define TMS_FORMAT_LIVE "live"

void tms_report_settings_init(struct tms_report_settings *settings);

/*
 * Writes the report of a finished analysis as "text", as "table" (one row per engine) or as "json"
 * (one object and a newline). Returns TMS_ERR_ARGUMENT if there is no such kind, and TMS_ERR_IO if
 * the sink returned false. Cost: the number of findings.
 */
int tms_report(const struct tms_analysis *analysis, const char *kind,
               const struct tms_report_settings *settings, tms_sink *sink, void *user);

/*
 * Writes one finding in full, as "text" does, including call stacks and event numbers. `result`
 * need not come from an analysis; only its `engine`, `blamed` and findings are used, whose names
 * are those of the context. Returns TMS_ERR_ARGUMENT if there is no finding at `index`.
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

/* Returns the index-th format, in the order of docs/user/reports.md; NULL after the last. */
const struct tms_export_format *tms_export_format(size_t index);

/*
 * A history of results, for documents that show findings over time. Plain data, which the caller
 * owns and must not change during tms_export. Times are ISO 8601 in UTC.
 */

/* A group of results, such as those of one night. */
struct tms_timeline_column {
    const char *name;
    uint64_t results;                     /* number of results, … */
    uint64_t runs;                        /* … and of program runs that they cover */
    uint64_t levels[TMS_LEVEL_ERROR + 1]; /* distinct unsuppressed findings of each level */
    bool reported;                        /* the document reports results of this column */
};

/* A finding in a column. */
struct tms_timeline_cell {
    size_t column;
    enum tms_level level;   /* the highest in that column */
    uint64_t results, runs; /* that showed it */
};

struct tms_timeline_finding {
    const char *id;
    const char *first_seen, *last_seen;     /* times, … */
    const char *first_column, *last_column; /* … and columns, possibly omitted ones */
    const struct tms_timeline_cell *cells;  /* by column; those without the finding have none */
    size_t cell_count;
    bool is_new; /* it first appeared in a column that the document reports */
    const char *suppressed_by, *suppressed_at, *suppressed_why; /* NULL: it is not suppressed */
};

struct tms_timeline {
    const char *unit;                          /* what a column represents: "label", "result" */
    const struct tms_timeline_column *columns; /* oldest first */
    size_t column_count;
    size_t omitted;                              /* number of older columns that are not listed */
    const struct tms_timeline_finding *findings; /* sorted by id (strcmp) */
    size_t finding_count;
};

/*
 * Returns the finding with this id, NULL if there is none. Thread-safe. Cost: the logarithm of the
 * number of findings.
 */
const struct tms_timeline_finding *tms_timeline_find(const struct tms_timeline *timeline,
                                                     const char *id);

/* A finished analysis, with the settings of its report. */
struct tms_export_part {
    const struct tms_analysis *analysis;
    const struct tms_report_settings *settings;
};

/*
 * Writes one document about all parts, which may have different contexts; settings.path
 * distinguishes them. A finding that another one represents (tms_finding.same_as, .judged) is left
 * out. If the settings of the first part have a timeline, "html" shows findings over time, "sarif"
 * says who suppressed them and why, and every format except "junit" lists each finding once: as it
 * is in the first of the parts with the strongest evidence for it. Returns TMS_OK, TMS_ERR_ARGUMENT
 * if there is no such format, TMS_ERR_IO if the sink returned false, or TMS_ERR_MEMORY. Thread-safe
 * as long as the analyses do not change. Cost: n log n in the number of findings; "html" also reads
 * the source files that they refer to.
 */
int tms_export(const char *format, const struct tms_export_part *parts, size_t count,
               tms_sink *sink, void *user);

/*
 * Writes a JSON string with its quotes, as the "json" report does: names are bytes, and invalid
 * UTF-8 in them becomes U+FFFD. `text` must be readable up to a zero byte at or after `length`.
 * Returns false if the sink did.
 */
bool tms_json_string(const char *text, size_t length, tms_sink *sink, void *user);

/*
 * Writes a name or path for people to read: control characters, newlines included, and invalid
 * UTF-8 become U+FFFD, so that it cannot contain terminal escape sequences. `text` must be readable
 * up to a zero byte at or after `length`. Returns false if the sink did.
 */
bool tms_printable_string(const char *text, size_t length, tms_sink *sink, void *user);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
