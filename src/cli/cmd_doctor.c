/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis doctor: tests everything that cc, run and record need, and says how to fix problems.
 *
 * Nothing is deduced that can be tried: a small program with a lost update that shows in every
 * run is compiled, linked, run by itself, and run under `tmesis run`, which must find it.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/toolchain.h"

#define ANSWER     8192
#define WATCHED    66 /* what `tmesis run` returns after a violation */
#define USUAL_BITS 28 /* of randomness in addresses, for which the runtime's layout is made */

enum state { GOOD, BAD, SKIPPED };

struct doctor {
    struct tms_compiler compiler[2]; /* by enum tms_language */
    bool usable[2];                  /* … it was found and compiles */
    bool runtime, linked;
    char self[PATH_MAX];
    char directory[PATH_MAX]; /* for test programs; "": none */
    char said[ANSWER];        /* output of the last program that was run */
    char text[ANSWER];        /* the finding, filled by a check */
};

static enum state found(struct doctor *doctor, enum state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum state found(struct doctor *doctor, enum state state, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(doctor->text, sizeof(doctor->text), format, arguments);
    va_end(arguments);
    return state;
}

/* ---- asking programs ------------------------------------------------------------------ */

static void in_directory(const struct doctor *doctor, const char *name, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, doctor->directory, name);
}

static int ask(struct doctor *doctor, const char *const *words)
{
    struct tms_words command = {0};

    for (; *words != NULL; words++) {
        tms_words_add(&command, *words);
    }
    int status = tms_program_ask(&command, doctor->said, sizeof(doctor->said));
    tms_words_free(&command);
    return status;
}

/* The most informative line: the first with the word "error", or else the first. */
static const char *first_line(char *text)
{
    char *error = strstr(text, "error");
    char *line = error != NULL ? error : text;

    while (line > text && line[-1] != '\n') {
        line--;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* ---- compilers ------------------------------------------------------------------------ */

static enum state check_compiler(struct doctor *doctor, enum tms_language language)
{
    struct tms_compiler *compiler = &doctor->compiler[language];
    struct tms_words question = {0};

    if (!tms_compiler_choose(compiler, language, doctor->text, sizeof(doctor->text))) {
        return BAD;
    }
    for (size_t i = 0; i < compiler->words.count; i++) {
        tms_words_add(&question, compiler->words.text[i]);
    }
    tms_words_add(&question, "--version");
    int status = tms_program_ask(&question, doctor->said, sizeof(doctor->said));
    const char *name = question.count > 0 ? question.text[0] : "the compiler";
    enum state state =
        status == 0 ? found(doctor, GOOD, "%s: %s", name, first_line(doctor->said))
                    : found(doctor, BAD, "%s --version fails: %s", name, first_line(doctor->said));
    tms_words_free(&question);
    doctor->usable[language] = state == GOOD;
    return state;
}

static enum state check_c_compiler(struct doctor *doctor)
{
    return check_compiler(doctor, TMS_LANGUAGE_C);
}

static enum state check_cxx_compiler(struct doctor *doctor)
{
    return check_compiler(doctor, TMS_LANGUAGE_CXX);
}

/* ---- the runtime ---------------------------------------------------------------------- */

static enum state check_runtime(struct doctor *doctor)
{
    struct tms_runtime_files files;

    if (!tms_program_self(doctor->self, sizeof(doctor->self)) ||
        !tms_runtime_find(&files, doctor->text, sizeof(doctor->text))) {
        return BAD;
    }
    doctor->runtime = true;
    return found(doctor, GOOD, "%s", files.archive);
}

/* ---- programs ------------------------------------------------------------------------- */

/* Both deposits sleep between their halves until an update is lost, without a race. */
static const char lost_update[] =
    "#include <pthread.h>\n"
    "#include <unistd.h>\n"
    "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
    "static int balance;\n"
    "static int get(void)\n"
    "{\n"
    "    pthread_mutex_lock(&lock);\n"
    "    int now = balance;\n"
    "    pthread_mutex_unlock(&lock);\n"
    "    return now;\n"
    "}\n"
    "static void set(int to)\n"
    "{\n"
    "    pthread_mutex_lock(&lock);\n"
    "    balance = to;\n"
    "    pthread_mutex_unlock(&lock);\n"
    "}\n"
    "static void deposit(int amount)\n"
    "{\n"
    "    int now = get();\n"
    "    usleep(20000);\n"
    "    set(now + amount);\n"
    "}\n"
    "static void *other(void *unused)\n"
    "{\n"
    "    deposit(2);\n"
    "    return unused;\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "    for (int i = 0, sum = 0; i < 50 && get() == sum; i++, sum += 3) {\n"
    "        pthread_t thread;\n"
    "        pthread_create(&thread, NULL, other, NULL);\n"
    "        deposit(1);\n"
    "        pthread_join(thread, NULL);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static const char cxx_program[] =
    "#include <mutex>\n"
    "#include <stdexcept>\n"
    "#include <thread>\n"
    "static std::mutex lock;\n"
    "static int balance;\n"
    "static void deposit(int amount)\n"
    "{\n"
    "    std::lock_guard<std::mutex> held(lock);\n"
    "    if (amount > 1) throw std::runtime_error(\"too much\");\n"
    "    balance += amount;\n"
    "}\n"
    "int main()\n"
    "{\n"
    "    std::thread thread([] { try { deposit(2); } catch (const std::exception &) {} });\n"
    "    deposit(1);\n"
    "    thread.join();\n"
    "    return balance == 1 ? 0 : 1;\n"
    "}\n";

static const struct program {
    const char *command, *source, *text, *binary;
} programs[] = {
    [TMS_LANGUAGE_C] = {"cc", "lost.c", lost_update, "lost"},
    [TMS_LANGUAGE_CXX] = {"c++", "plus.cc", cxx_program, "plus"},
};

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (file == NULL) {
        return false;
    }
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

static enum state check_program(struct doctor *doctor, enum tms_language language)
{
    const struct program *program = &programs[language];
    char source[PATH_MAX], binary[PATH_MAX];

    if (!doctor->usable[language] || !doctor->runtime) {
        return found(doctor, SKIPPED, "skipped: something above is missing");
    }
    in_directory(doctor, program->source, source);
    in_directory(doctor, program->binary, binary);
    if (doctor->directory[0] == '\0' || !write_file(source, program->text)) {
        return found(doctor, BAD,
                     "no temporary directory; set TMPDIR to a directory with free space");
    }
    if (ask(doctor, (const char *const[]){doctor->self, program->command, "-g", "-O1", source, "-o",
                                          binary, NULL}) != 0) {
        return found(doctor, BAD, "does not compile: %s", first_line(doctor->said));
    }
    int status = ask(doctor, (const char *const[]){binary, NULL});
    if (status == -1) {
        return found(doctor, BAD, "compiles, but no program can be run in %s; set TMPDIR",
                     doctor->directory);
    }
    if (status != 0) {
        return found(doctor, BAD, "compiles and links, but ends with status %d: %s", status,
                     first_line(doctor->said));
    }
    doctor->linked |= language == TMS_LANGUAGE_C;
    return found(doctor, GOOD, "compiled with -fsanitize=thread, linked and run");
}

static enum state check_c_program(struct doctor *doctor)
{
    return check_program(doctor, TMS_LANGUAGE_C);
}

static enum state check_cxx_program(struct doctor *doctor)
{
    return check_program(doctor, TMS_LANGUAGE_CXX);
}

static enum state check_watched(struct doctor *doctor)
{
    char binary[PATH_MAX];

    if (!doctor->linked) {
        return found(doctor, SKIPPED, "skipped: something above is missing");
    }
    in_directory(doctor, programs[TMS_LANGUAGE_C].binary, binary);
    int status = ask(doctor, (const char *const[]){doctor->self, "run", "--", binary, NULL});
    if (status != WATCHED) {
        doctor->linked = false;
        return found(doctor, BAD, "a lost update was not found (status %d): %s", status,
                     first_line(doctor->said));
    }
    return found(doctor, GOOD, "tmesis run finds a lost update");
}

/* By the report of the watched run, which is still in `said`. */
static enum state check_lines(struct doctor *doctor)
{
    if (!doctor->linked) {
        return found(doctor, SKIPPED, "skipped: something above is missing");
    }
    if (strstr(doctor->said, "lost.c:") == NULL) {
        return found(doctor, BAD,
                     "the report has no source lines, although the program was compiled with -g");
    }
    return found(doctor, GOOD, "functions and lines of programs compiled with -g are named");
}

/* ---- the system ----------------------------------------------------------------------- */

static long read_setting(const char *path)
{
    FILE *file = fopen(path, "re");
    long value = -1;

    if (file != NULL) {
        if (fscanf(file, "%ld", &value) != 1) {
            value = -1;
        }
        fclose(file);
    }
    return value;
}

/* The runtime reserves this much for its shadow memory, and uses little of it. */
static enum state check_room(struct doctor *doctor)
{
    size_t size = (size_t)16 << 40;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED) {
        return found(doctor, BAD,
                     "16 TiB of addresses can't be reserved; lift the limit (ulimit -v unlimited), "
                     "or set vm.overcommit_memory to 0 or 1 (it is %ld)",
                     read_setting("/proc/sys/vm/overcommit_memory"));
    }
    munmap(map, size);
    return found(doctor, GOOD, "16 TiB of addresses can be reserved");
}

static bool can_fix_addresses(void)
{
    int now = personality(0xffffffff);
    bool can = now != -1 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1;

    if (can) {
        personality((unsigned long)now);
    }
    return can;
}

static enum state check_layout(struct doctor *doctor)
{
    long random = read_setting("/proc/sys/kernel/randomize_va_space");
    long bits = read_setting("/proc/sys/vm/mmap_rnd_bits");

    if (random == 0 || bits <= USUAL_BITS) {
        return found(doctor, GOOD, "addresses are random in %ld bits", random == 0 ? 0 : bits);
    }
    if (!can_fix_addresses()) {
        return found(doctor, BAD,
                     "addresses are random in %ld bits, so memory of the program can overlap "
                     "that of the runtime: sysctl vm.mmap_rnd_bits=%d",
                     bits, USUAL_BITS);
    }
    return found(doctor, GOOD,
                 "addresses are random in %ld bits; randomization can be switched off", bits);
}

/* ---- all of it ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum state (*check)(struct doctor *doctor);
} checks[] = {
    {"C compiler", check_c_compiler},   {"C++ compiler", check_cxx_compiler},
    {"runtime", check_runtime},         {"C program", check_c_program},
    {"C++ program", check_cxx_program}, {"watched run", check_watched},
    {"source lines", check_lines},      {"memory", check_room},
    {"addresses", check_layout},
};

#define CHECK_COUNT (sizeof(checks) / sizeof(checks[0]))
#define COLUMN      23

static void show(const struct doctor *doctor, const char *name, enum state state, bool color)
{
    static const struct {
        const char *word, *color;
    } shown[] = {[GOOD] = {"ok", "\033[32m"},
                 [BAD] = {"problem", "\033[31m"},
                 [SKIPPED] = {"skipped", "\033[33m"}};

    printf("%s%-8s%s %-13s ", color ? shown[state].color : "", shown[state].word,
           color ? "\033[0m" : "", name);
    tms_console_wrap(stdout, COLUMN, doctor->text);
}

static void make_directory(struct doctor *doctor)
{
    const char *parent = getenv("TMPDIR");

    snprintf(doctor->directory, sizeof(doctor->directory), "%s/tmesis-doctor-XXXXXX",
             parent != NULL && *parent != '\0' ? parent : "/tmp");
    if (!tms_cleanup_make_directory(doctor->directory)) {
        doctor->directory[0] = '\0';
    }
}

static int run(const void *values, const struct tms_operands *operands)
{
    const struct tms_common *common = values;
    bool color = tms_console_color(common->color, STDOUT_FILENO);
    struct doctor *doctor = calloc(1, sizeof(*doctor));
    int status = TMS_EXIT_OK;

    (void)operands;
    if (doctor == NULL) {
        return tms_bad("out of memory");
    }
    make_directory(doctor);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        enum state state = checks[i].check(doctor);
        if (state != GOOD || !common->quiet) {
            show(doctor, checks[i].name, state, color);
        }
        status = state == GOOD ? status : TMS_EXIT_BAD;
    }
    if (doctor->directory[0] != '\0') {
        tms_cleanup_remove(doctor->directory);
    }
    tms_words_free(&doctor->compiler[TMS_LANGUAGE_C].words);
    tms_words_free(&doctor->compiler[TMS_LANGUAGE_CXX].words);
    free(doctor);
    return status;
}

const struct tms_command tms_command_doctor = {
    .name = "doctor",
    .group = TMS_GROUP_OTHER,
    .summary = "check the installation and what it needs",
    .about =
        "Tests everything that cc, c++, run and record need: compilers, the runtime, a program "
        "with a lost update that must be found, source lines in the report, and system "
        "settings. Prints a line for each; with --quiet only for problems.\n\n"
        "Exit status: 0 if everything works, 2 if not.",
    .values_size = sizeof(struct tms_common),
    .run = run,
};
