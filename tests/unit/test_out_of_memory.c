/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at every place where it can: a small trace is written, read, checked and
 * reported in each format, with the first allocation failing, then the second, and so on until
 * none does. Nothing may crash, and under AddressSanitizer nothing may leak; every step either
 * works or says TMS_ERR_MEMORY.
 *
 * The linker turns calls of the allocating functions into calls of __wrap_… here (--wrap), in
 * the library and in this file alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "tmesis/tmesis.h"

/* ---- allocation that fails on demand ------------------------------------------------------ */

static struct {
    bool armed;
    bool once;     /* only the one allocation fails, not all after it */
    uint64_t left; /* allocations before the failing one */
    bool failed;
} failure;

static bool refuse(void)
{
    if (!failure.armed) {
        return false;
    }
    if (failure.left > 0) {
        failure.left--;
        return false;
    }
    if (failure.failed && failure.once) {
        return false;
    }
    failure.failed = true;
    return true;
}

/* X(result, failure, name, parameters, arguments) */
#define ALLOCATORS(X)                                                                              \
    X(void *, NULL, malloc, (size_t size), (size))                                                 \
    X(void *, NULL, calloc, (size_t count, size_t size), (count, size))                            \
    X(void *, NULL, realloc, (void *block, size_t size), (block, size))                            \
    X(FILE *, NULL, open_memstream, (char **text, size_t *size), (text, size))                     \
    X(ZSTD_CCtx *, NULL, ZSTD_createCCtx, (void), ())                                              \
    X(ZSTD_DCtx *, NULL, ZSTD_createDCtx, (void), ())                                              \
    X(ZSTD_CStream *, NULL, ZSTD_createCStream, (void), ())                                        \
    X(ZSTD_DStream *, NULL, ZSTD_createDStream, (void), ())                                        \
    X(int, Z_MEM_ERROR, inflateInit2_,                                                             \
      (z_stream * stream, int bits, const char *version, int size), (stream, bits, version, size)) \
    X(int, Z_MEM_ERROR, deflateInit2_,                                                             \
      (z_stream * stream, int level, int method, int bits, int memory, int strategy,               \
       const char *version, int size),                                                             \
      (stream, level, method, bits, memory, strategy, version, size))

#define X(result, failure, name, parameters, arguments)                                            \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return refuse() ? (failure) : __real_##name arguments;                                     \
    }
ALLOCATORS(X)
#undef X

/* ---- the work ----------------------------------------------------------------------------- */

/* Codes that no function of the library returns. */
enum { WRONG_VERDICT = 1, NO_SENTENCE };

#define BLOCKS 40 /* enough names and findings for the tables to grow */

struct scratch {
    int descriptor;
    char path[32];
};

static struct scratch scratch_make(void)
{
    struct scratch scratch = {.descriptor = memfd_create("out of memory", MFD_CLOEXEC)};

    assert_true(scratch.descriptor >= 0);
    snprintf(scratch.path, sizeof(scratch.path), "/proc/self/fd/%d", scratch.descriptor);
    return scratch;
}

static bool discard(void *user, const char *text, size_t length)
{
    (void)user;
    (void)text;
    (void)length;
    return true;
}

#define BLOCK_EVENTS 10

static int fill_block(struct tms_context *context, unsigned number, struct tms_event *events)
{
    static const struct {
        unsigned thread;
        enum tms_event_kind kind;
    } shape[BLOCK_EVENTS] = {
        {1, TMS_EVENT_BEGIN}, {1, TMS_EVENT_BEGIN}, {1, TMS_EVENT_READ}, {2, TMS_EVENT_BEGIN},
        {2, TMS_EVENT_READ},  {2, TMS_EVENT_WRITE}, {2, TMS_EVENT_END},  {1, TMS_EVENT_WRITE},
        {1, TMS_EVENT_END},   {1, TMS_EVENT_END},
    };

    for (size_t i = 0; i < BLOCK_EVENTS; i++) {
        char name[16];
        int length = snprintf(name, sizeof(name), "%u", shape[i].thread + number % 7);
        int64_t thread = tms_intern(context, TMS_CLASS_THREAD, name, (size_t)length);
        length = snprintf(name, sizeof(name), "%u", 1000 + number);
        int64_t target = tms_intern(context, tms_event_class(shape[i].kind), name, (size_t)length);
        if (thread < 0 || target < 0) {
            return TMS_ERR_MEMORY;
        }
        events[i] = (struct tms_event){
            .thread = (uint32_t)thread, .target = (uint32_t)target, .kind = (uint8_t)shape[i].kind};
    }
    return BLOCK_EVENTS;
}

static int write_blocks(struct tms_context *context, struct tms_writer *writer)
{
    struct tms_event events[BLOCK_EVENTS];

    for (unsigned i = 0; i < BLOCKS; i++) {
        int count = fill_block(context, i, events);
        if (count < 0) {
            return count;
        }
        int code = tms_writer_write(writer, events, (size_t)count);
        if (code != TMS_OK) {
            return code;
        }
    }
    return TMS_OK;
}

/* A lost update per block, with numbers for names: every format can say that. */
static int write_trace(const char *path, const char *format, const char *compression)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_writer_settings settings;
    struct tms_writer *writer = NULL;

    if (context == NULL) {
        return TMS_ERR_MEMORY;
    }
    tms_writer_settings_init(&settings);
    settings.format = format;
    settings.compression = compression;
    int code = tms_writer_open(context, path, &settings, &writer);
    if (code == TMS_OK) {
        int written = write_blocks(context, writer);
        code = tms_writer_close(writer);
        code = written != TMS_OK ? written : code;
    }
    tms_context_free(context);
    return code;
}

static int report(const struct tms_analysis *analysis, bool exported)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = "trace";
    settings.format = "std";
    static const char *const kinds[] = {"text", "table", "json"};
    int code = TMS_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && code == TMS_OK; i++) {
        code = tms_report(analysis, kinds[i], &settings, discard, NULL);
    }
    const struct tms_export_part part = {analysis, &settings};
    for (size_t i = 0; exported && tms_export_format(i) != NULL && code == TMS_OK; i++) {
        code = tms_export(tms_export_format(i)->name, &part, 1, discard, NULL);
    }
    return code;
}

/*
 * An engine that runs out of memory stops and says so in its result; it never calls a trace fine.
 */
static int judge(const struct tms_analysis *analysis, bool exported)
{
    const struct tms_result *result;
    int code = report(analysis, exported);

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->verdict == TMS_VERDICT_SERIALIZABLE) {
            return WRONG_VERDICT;
        }
        if (!result->complete) {
            code = TMS_ERR_MEMORY;
        }
    }
    return code;
}

struct work {
    const char *format;
    const char *compression; /* NULL: the trace is `text`, the format has no writer */
    const char *text;
    const char *engines;
    const char *rules; /* a specification; NULL: none */
    bool writes;       /* the failures come while writing, else while reading and checking */
    bool exported;     /* as documents, too */
};

/* The rules as a file holds them; without any, *spec is NULL. */
static int load_rules(struct tms_context *context, const char *rules, struct tms_spec **spec)
{
    *spec = NULL;
    if (rules == NULL) {
        return TMS_OK;
    }
    struct scratch file = scratch_make();
    assert_int_equal(write(file.descriptor, rules, strlen(rules)), strlen(rules));
    int code = tms_spec_new(context, spec);
    code = code == TMS_OK ? tms_spec_load(*spec, file.path) : code;
    close(file.descriptor);
    return code;
}

static int check_with(struct tms_context *context, const char *path, const struct work *work)
{
    struct tms_reader_settings reading;
    struct tms_settings checking;
    struct tms_reader *reader = NULL;
    struct tms_analysis *analysis = NULL;

    tms_reader_settings_init(&reading);
    reading.format = work->format;
    tms_settings_init(&checking);
    checking.engines = work->engines;
    int code = load_rules(context, work->rules, &checking.spec);
    if (code == TMS_OK) {
        code = tms_reader_open(context, path, &reading, &reader);
    }
    if (code == TMS_OK) {
        code = tms_analysis_new(context, &checking, &analysis);
    }
    if (code == TMS_OK) {
        code = tms_analysis_read(analysis, reader);
    }
    if (code < 0 && tms_error(context)[0] == '\0') {
        code = NO_SENTENCE;
    }
    if (code == TMS_OK) {
        code = judge(analysis, work->exported);
    }
    tms_analysis_free(analysis);
    tms_reader_close(reader);
    tms_spec_free(checking.spec);
    return code;
}

static int check_trace(const char *path, const struct work *work)
{
    struct tms_context *context = tms_context_new(NULL, NULL);

    if (context == NULL) {
        return TMS_ERR_MEMORY;
    }
    int code = check_with(context, path, work);
    tms_context_free(context);
    return code;
}

/* ---- every allocation in turn ------------------------------------------------------------- */

static int do_work(const struct work *work, const struct scratch *trace)
{
    return work->writes ? write_trace(trace->path, work->format, work->compression)
                        : check_trace(trace->path, work);
}

/* False when the work was done without ever meeting the n-th allocation. */
static bool fails_at(const struct work *work, const struct scratch *trace, uint64_t n, bool once)
{
    failure.once = once;
    failure.left = n;
    failure.failed = false;
    failure.armed = true;
    int code = do_work(work, trace);
    failure.armed = false;
    if (code != TMS_OK && (code != TMS_ERR_MEMORY || !failure.failed)) {
        fail_msg("allocation %llu failing gave code %d", (unsigned long long)n + 1, code);
    }
    /* A single refusal may be got over; work that got nothing any more can't have been done. */
    assert_true(once || !failure.failed || code == TMS_ERR_MEMORY);
    return failure.failed;
}

static void prepare(const struct work *work, const struct scratch *trace)
{
    failure.armed = false; /* a test that failed before may have left it on */
    if (work->text != NULL) {
        ssize_t length = (ssize_t)strlen(work->text);
        assert_int_equal(write(trace->descriptor, work->text, (size_t)length), length);
    } else {
        assert_int_equal(write_trace(trace->path, work->format, work->compression), TMS_OK);
    }
    assert_int_equal(do_work(work, trace), TMS_OK);
}

static void every_allocation(const struct work *work)
{
    struct scratch trace = scratch_make();
    uint64_t n = 0;

    prepare(work, &trace);
    while (fails_at(work, &trace, n, false) && fails_at(work, &trace, n, true)) {
        n++;
    }
    assert_true(n > 5);
    close(trace.descriptor);
}

static const char rr_text[] = "@ Enter(1,deposit)\n@ Rd(1,x)\n@ Enter(2,deposit)\n@ Rd(2,x)\n"
                              "@ Wr(2,x)\n@ Exit(2,deposit)\n@ Wr(1,x)\n@ Exit(1,deposit)\n";

/* X(name, members of struct work) */
#define WORKS(X)                                                                                   \
    X(check_std, .format = "std", .compression = "none", .engines = "frontier")                    \
    X(check_std_gzip, .format = "std", .compression = "gz", .engines = "frontier")                 \
    X(check_std_zstd, .format = "std", .compression = "zst", .engines = "frontier")                \
    X(check_rr, .format = "rr", .text = rr_text, .engines = "frontier")                            \
    X(check_regiontrack, .format = "regiontrack", .compression = "none", .engines = "frontier")    \
    X(check_tms, .format = "tms", .engines = "frontier")                                           \
    X(check_with_rules, .format = "std", .compression = "none", .engines = "frontier",             \
      .rules = "atomic 10?[1-9]\nnot-atomic 1001\n")                                               \
    X(check_and_export, .format = "std", .compression = "none", .engines = "judge",                \
      .exported = true)                                                                            \
    X(check_with_several, .format = "std", .compression = "none",                                  \
      .engines = "reference,sidetrack,reduction,blocks")                                           \
    X(write_std, .format = "std", .compression = "none", .writes = true)                           \
    X(write_std_gzip, .format = "std", .compression = "gz", .writes = true)                        \
    X(write_std_zstd, .format = "std", .compression = "zst", .writes = true)                       \
    X(write_regiontrack, .format = "regiontrack", .compression = "none", .writes = true)           \
    X(write_tms, .format = "tms", .writes = true)

#define X(name, ...)                                                                               \
    static void name(void **state)                                                                 \
    {                                                                                              \
        static const struct work work = {__VA_ARGS__};                                             \
        (void)state;                                                                               \
        every_allocation(&work);                                                                   \
    }
WORKS(X)
#undef X

/* One by one: together they would have to be run as often as all of them allocate. */
static void check_with_each_engine(void **state)
{
    const struct tms_engine_info *engine;

    (void)state;
    for (size_t i = 0; (engine = tms_engine_info(i)) != NULL; i++) {
        const struct work work = {.format = "std", .compression = "none", .engines = engine->name};
        every_allocation(&work);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define X(name, ...) cmocka_unit_test(name),
        WORKS(X)
#undef X
            cmocka_unit_test(check_with_each_engine),
    };
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that output before a crash is visible */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
