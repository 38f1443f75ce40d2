/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judged findings as text: the whole entry of a known bug with call stacks, without them, and as a
 * prediction; and that many entries keep to the lines and columns of a page.
 */
#include "trace_fixture.h"

#include "base/utf8.h"
#include "report/display_name.h"
#include "report/judged_findings.h"
#include "report/judged_listing.h"
#include "report/user_frame.h"

static uint32_t name(struct fixture *fixture, enum tms_class cls, const char *text)
{
    return (uint32_t)tms_intern(fixture->context, cls, text, strlen(text));
}

/* ---- a lost update --------------------------------------------------------------------- */

#define GET                                                                                        \
    "get_balance\tbank.c\t%s\n"                                                                    \
    "deposit\tbank.c\t40\t    int balance = get_balance(to);\n"                                    \
    "cashier\tbank.c\t48\t        deposit(&account, 1);\n"
#define SET                                                                                        \
    "set_balance\tbank.c\t34\t    to->balance = balance;\n"                                        \
    "deposit\tbank.c\t42\t    set_balance(to, balance + amount);\n"                                \
    "cashier\tbank.c\t48\t        deposit(&account, 1);\n"

struct bank {
    struct tms_turn own[2], foreign[2];
    struct tms_transaction outer[2];
    struct tms_judgement judgement;
    struct tms_finding finding;
};

static struct tms_turn turn(struct fixture *fixture, uint64_t event, const char *thread,
                            enum tms_event_kind kind, const char *target, const char *location)
{
    return (struct tms_turn){.event = event,
                             .thread = name(fixture, TMS_CLASS_THREAD, thread),
                             .target = name(fixture, tms_event_class(kind), target),
                             .location = name(fixture, TMS_CLASS_LOCATION, location),
                             .kind = (uint8_t)kind};
}

static void make_bank(struct fixture *fixture, struct bank *bank)
{
    uint32_t deposit = name(fixture, TMS_CLASS_LABEL, "deposit");
    uint32_t begin = name(fixture, TMS_CLASS_LOCATION, "bank.c:38");
    const char *balance = "account.balance";

    *bank = (struct bank){
        .own = {turn(fixture, 12, "T3", TMS_EVENT_READ, balance, "bank.c:26"),
                turn(fixture, 30, "T3", TMS_EVENT_WRITE, balance, "bank.c:34")},
        .foreign = {turn(fixture, 16, "T2", TMS_EVENT_READ, balance, "bank.c:26"),
                    turn(fixture, 20, "T2", TMS_EVENT_WRITE, balance, "bank.c:34")},
        .judgement = {.level = TMS_LEVEL_ERROR,
                      .patterns = 1u << TMS_PATTERN_LOST_UPDATE,
                      .pattern = TMS_PATTERN_LOST_UPDATE,
                      .variable = name(fixture, TMS_CLASS_VARIABLE, balance),
                      .object = "account",
                      .executions = 40001,
                      .cut = 27,
                      .processes = 1,
                      .own_count = 2,
                      .foreign_count = 2,
                      .lock = name(fixture, TMS_CLASS_LOCK, "account.lock"),
                      .given_up =
                          turn(fixture, 13, "T3", TMS_EVENT_RELEASE, "account.lock", "bank.c:27")},
        .finding = {.id = "AV-efa564",
                    .kind = "data",
                    .evidence = TMS_EVIDENCE_OBSERVED,
                    .count = 27,
                    .event = 30,
                    .transaction = {10, bank->own[0].thread, deposit, begin, false}},
    };
    bank->finding.transaction.thread = bank->own[0].thread;
    bank->judgement.culprit =
        (struct tms_transaction){14, bank->foreign[0].thread, deposit, begin, false};
    bank->judgement.own = bank->own;
    bank->judgement.foreign = bank->foreign;
    bank->finding.judgement = &bank->judgement;
}

static uint32_t stack(struct fixture *fixture, const char *format, const char *line)
{
    char text[512];

    snprintf(text, sizeof(text), format, line);
    return name(fixture, TMS_CLASS_STACK, text);
}

static void add_stacks(struct fixture *fixture, struct bank *bank)
{
    bank->own[0].stack = stack(fixture, GET, "26\tint balance = from->balance;");
    bank->judgement.given_up.stack =
        stack(fixture, "unlock\tlocks.c\t7\t\n" GET, "27\t    unlock(&from->lock);");
    bank->own[1].stack = stack(fixture, SET, "");
    bank->foreign[0].stack = bank->own[0].stack;
    bank->foreign[1].stack = bank->own[1].stack;
}

/* ---- writing ---------------------------------------------------------------------------- */

struct written {
    FILE *out;
    char *text;
    size_t size;
    struct tms_page page;
};

static void open_page(struct written *written, struct fixture *fixture, unsigned width,
                      bool verbose)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.width = width;
    settings.verbose = verbose;
    written->out = open_memstream(&written->text, &written->size);
    assert_non_null(written->out);
    assert_int_equal(tms_page_open(&written->page, written->out, fixture->context, &settings),
                     TMS_OK);
}

static const char *close_page(struct written *written)
{
    assert_int_equal(tms_page_close(&written->page), TMS_OK);
    assert_int_equal(fclose(written->out), 0);
    return written->text;
}

static void assert_written(struct fixture *fixture, const struct bank *bank, const char *expected)
{
    struct written written;

    open_page(&written, fixture, 80, false);
    tms_judged_write(&written.page, &bank->finding, false);
    assert_string_equal(close_page(&written), expected);
    free(written.text);
}

/* Counts the lines, and checks that none is too wide. */
static size_t lines_of(const char *text, size_t width)
{
    size_t lines = 0;

    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t characters = 0;
        for (const char *at = text; at < end; at++) {
            characters += ((unsigned char)*at & 0xc0) != 0x80;
        }
        if (characters > width) {
            fail_msg("too wide: %.*s", (int)(end - text), text);
        }
        lines++;
    }
    return lines;
}

/* ---- tests ------------------------------------------------------------------------------ */

static void test_lost_update(void **state)
{
    struct fixture *fixture = *state;
    struct bank bank;

    make_bank(fixture, &bank);
    add_stacks(fixture, &bank);
    assert_written(
        fixture, &bank,
        "✗ deposit() is not atomic: an update of account.balance was lost       AV-efa564\n"
        "  bank.c:38 · cut in 27 of 40,001 executions\n"
        "\n"
        "      T3 deposit()                          T2 deposit()\n"
        "      26  read balance\n"
        "      27  unlock account.lock\n"
        "       ┊                                    26  read balance\n"
        "       ┊  not protected                     34  write balance\n"
        "    ▶ 34  write balance                     ← overwrites T2's update\n"
        "\n"
        "      40 │     int balance = get_balance(to);       lock taken and released\n"
        "      42 │     set_balance(to, balance + amount);   taken again\n"
        "\n"
        "  Why  T2 changed balance after T3 had read it; T3's write discards that change.\n"
        "  Fix  hold account.lock from line 40 to line 42.\n"
        "  Not a bug?  --suppress=AV-efa564   or   --not-atomic=deposit\n");
}

/* Only the locations are known, there is no lock, and all happened in several processes. */
static void test_plain_trace(void **state)
{
    struct fixture *fixture = *state;
    struct bank bank;

    make_bank(fixture, &bank);
    bank.judgement.lock = 0;
    bank.judgement.given_up.event = 0;
    bank.judgement.processes = 3;
    bank.outer[0] = bank.finding.transaction;
    bank.outer[0].label = name(fixture, TMS_CLASS_LABEL, "cashier");
    bank.judgement.outer = bank.outer;
    bank.judgement.outer_count = 1;
    assert_written(
        fixture, &bank,
        "✗ deposit() is not atomic: an update of account.balance was lost       AV-efa564\n"
        "  bank.c:38 · cut in 27 of 40,001 executions, in 3 processes\n"
        "  cut along with it: cashier()\n"
        "\n"
        "      T3 deposit()                          T2 deposit()\n"
        "      26  read balance\n"
        "       ┊                                    26  read balance\n"
        "       ┊  not protected                     34  write balance\n"
        "    ▶ 34  write balance                     ← overwrites T2's update\n"
        "\n"
        "  Why  T2 changed balance after T3 had read it; T3's write discards that change.\n"
        "  Fix  use one atomic operation, or hold one lock from line 26 to line 34, which\n"
        "       T2 must hold as well.\n"
        "  Not a bug?  --suppress=AV-efa564   or   --not-atomic=deposit\n");
}

static void test_prediction(void **state)
{
    struct fixture *fixture = *state;
    struct bank bank;

    make_bank(fixture, &bank);
    bank.finding.evidence = TMS_EVIDENCE_PREDICTED;
    bank.judgement.cut = 0;
    bank.judgement.level = TMS_LEVEL_WARNING;
    assert_written(
        fixture, &bank,
        "! deposit() can be cut: an update of account.balance can be  predicted AV-efa564\n"
        "  lost\n"
        "  bank.c:38 · predicted: not observed in 40,001 executions\n"
        "\n"
        "      T3 deposit()                          T2 deposit()\n"
        "      26  read balance\n"
        "      27  unlock account.lock\n"
        "       ┊                                    26  read balance\n"
        "       ┊  not protected                     34  write balance\n"
        "    ▶ 34  write balance                     ← overwrites T2's update\n"
        "\n"
        "  Why  with another timing, T2 changes balance after T3 has read it; T3's write\n"
        "       then discards that change.\n"
        "  Fix  hold account.lock from line 26 to line 34.\n"
        "  Not a bug?  --suppress=AV-efa564   or   --not-atomic=deposit\n");
}

/* Reasons to doubt a prediction: a caveat of its own, and races. */
static void test_doubts(void **state)
{
    struct fixture *fixture = *state;
    struct written written;
    struct bank bank;

    make_bank(fixture, &bank);
    bank.finding.evidence = TMS_EVIDENCE_PREDICTED;
    bank.finding.caveat = "it presupposes something";
    bank.judgement.cut = 0;
    open_page(&written, fixture, 80, false);
    written.page.racing = true;
    tms_judged_write(&written.page, &bank.finding, false);
    close_page(&written);
    assert_non_null(
        strstr(written.text,
               "  But  it presupposes something.\n"
               "  But  this run has a data race, so locks alone do not determine the order of\n"
               "       these steps; the predicted order may be impossible.\n"
               "  Fix  "));
    free(written.text);
    bank.finding.evidence = TMS_EVIDENCE_OBSERVED;
    bank.finding.caveat = NULL;
    bank.judgement.cut = 27;
    open_page(&written, fixture, 80, false);
    written.page.racing = true;
    tms_judged_write(&written.page, &bank.finding, false);
    close_page(&written);
    assert_null(strstr(written.text, "But"));
    free(written.text);
}

static void assert_place(struct fixture *fixture, const struct bank *bank, const char *expected)
{
    struct written written;

    open_page(&written, fixture, 80, false);
    tms_judged_write(&written.page, &bank->finding, false);
    close_page(&written);
    assert_non_null(strstr(written.text, expected));
    free(written.text);
}

/* A process that was killed has not left the number of executions; nor a compiler, a line. */
static void test_unknown_counts_and_lines(void **state)
{
    struct fixture *fixture = *state;
    struct bank bank;

    make_bank(fixture, &bank);
    bank.judgement.executions = 0;
    assert_place(fixture, &bank, "\n  bank.c:38 · cut in 27 executions\n");
    bank.judgement.cut = 1;
    assert_place(fixture, &bank, "\n  bank.c:38 · cut in 1 execution\n");
    bank.finding.evidence = TMS_EVIDENCE_PREDICTED;
    bank.judgement.cut = 0;
    assert_place(fixture, &bank, "\n  bank.c:38 · predicted\n");
    bank.finding.transaction.location = name(fixture, TMS_CLASS_LOCATION, "deposit");
    assert_place(fixture, &bank, "\n  bank.c:26 · predicted\n");
}

static void test_verbose(void **state)
{
    struct fixture *fixture = *state;
    struct written written;
    struct bank bank;

    make_bank(fixture, &bank);
    add_stacks(fixture, &bank);
    open_page(&written, fixture, 80, true);
    tms_judged_write(&written.page, &bank.finding, true);
    const char *text = close_page(&written);
    assert_non_null(strstr(text, "  patterns: lost-update\n  evidence: observed\n"));
    assert_non_null(strstr(text, "    event 12: T3 read balance\n"
                                 "      in get_balance (bank.c:26)\n"
                                 "          int balance = from->balance;\n"
                                 "        from deposit (bank.c:40)\n"
                                 "        from cashier (bank.c:48)\n"
                                 "    event 13: T3 unlocked account.lock\n"
                                 "      in unlock (locks.c:7)\n"));
    free(written.text);
}

/* Every pattern, seen and predicted, with long names, on narrow and wide pages. */
static void test_all_patterns(void **state)
{
    struct fixture *fixture = *state;
    struct bank bank;

    make_bank(fixture, &bank);
    add_stacks(fixture, &bank);
    bank.finding.transaction.label = name(
        fixture, TMS_CLASS_LABEL,
        "company::bank::Ledger<std::vector<int, std::allocator<int> > >::deposit_into_savings");
    bank.judgement.other =
        name(fixture, TMS_CLASS_VARIABLE,
             "company::bank::ledger_of_all_customers.accounts[12].last_modification_time");
    for (int i = 0; i < 4 * TMS_PATTERN_COUNT; i++) {
        struct written written;
        unsigned width = i & 1 ? 80 : 120;
        bank.judgement.pattern = (enum tms_pattern)(i / 4);
        bank.finding.evidence = i & 2 ? TMS_EVIDENCE_PREDICTED : TMS_EVIDENCE_OBSERVED;
        open_page(&written, fixture, width, false);
        tms_judged_write(&written.page, &bank.finding, false);
        const char *text = close_page(&written);
        assert_in_range(lines_of(text, width), 12, 25);
        assert_null(strchr(text, '@'));
        free(written.text);
    }
}

/* 200 blocks with a warning each, one of them with a second finding that is an error. */
#define BLOCKS 200

static void test_many_entries(void **state)
{
    struct fixture *fixture = *state;
    static struct tms_finding findings[BLOCKS + 1];
    static char ids[BLOCKS + 1][16];
    struct tms_judgement warning;
    struct tms_judged_listing listing;
    struct written written;
    struct bank bank;
    char label[32];

    make_bank(fixture, &bank);
    add_stacks(fixture, &bank);
    warning = bank.judgement;
    warning.level = TMS_LEVEL_WARNING;
    warning.pattern = TMS_PATTERN_CHANGED_BETWEEN_READS;
    for (int i = 0; i <= BLOCKS; i++) {
        snprintf(label, sizeof(label), "block%d<int>", i < BLOCKS ? i : 150);
        snprintf(ids[i], sizeof(ids[i]), "AV-%06x", i);
        findings[i] = bank.finding;
        findings[i].id = ids[i];
        findings[i].judgement = i < BLOCKS ? &warning : &bank.judgement;
        findings[i].transaction.label = name(fixture, TMS_CLASS_LABEL, label);
    }
    struct tms_result result = {.findings = findings, .finding_count = BLOCKS + 1};
    assert_int_equal(tms_judged_listing_make(&listing, &result, fixture->context, true), TMS_OK);
    assert_int_equal(listing.count, BLOCKS);
    assert_int_equal(listing.levels[TMS_LEVEL_ERROR], 1);
    assert_int_equal(listing.levels[TMS_LEVEL_WARNING], BLOCKS - 1);
    open_page(&written, fixture, 80, false);
    tms_judged_listing_write(&written.page, &listing, false);
    size_t left = written.page.left;
    const char *text = close_page(&written);
    size_t lines = lines_of(text, 80);
    assert_int_equal(lines + left, TMS_PAGE_LINES);
    assert_in_range(left, 0, 2);
    assert_ptr_equal(strstr(text, "✗ block150<int>() is not atomic: an update of "), text);
    assert_non_null(strstr(text, "\n  also: account.balance (changed-between-reads)\n"));
    assert_non_null(strstr(text, "\n! block0<int>() is not atomic: account.balance changed"));
    assert_non_null(strstr(text, " more: --verbose\n"));
    free(written.text);
    tms_judged_listing_free(&listing);
}

/* ---- names and frames ------------------------------------------------------------------- */

static void assert_display(const char *given, size_t most, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    size_t width = tms_display_name(out, given, most);

    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    assert_true(width <= most);
    free(text);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void test_names(void **state)
{
    (void)state;
    assert_display("balance", 40, "balance");
    assert_display(STRING, 40, "std::string");
    assert_display("std::vector<int, std::allocator<int> >", 40, "std::vector<int>");
    assert_display("std::map<" STRING ", std::vector<" STRING ", std::allocator<" STRING
                   " > >, std::less<" STRING " >, std::allocator<std::pair<" STRING
                   " const, int> > >::find",
                   90, "std::map<std::string, std::vector<std::string>>::find");
    assert_display("Table<Key, Value>::insert(Key const&)", 30, "Table<…>::insert(Key const&)");
    assert_display("Table<Key, Value>::insert(Key const&)", 22, "Table<…>::insert(…)");
    assert_display("abcdefghijklmnopqrstuvwxyz", 11, "abcde…vwxyz");
    assert_display("operator<< <char>(std::ostream&, int)", 20, "operator<< <…>(…)");
    assert_display("a->b", 40, "a->b");
    assert_display("\x1b[2J<broken", 40, TMS_UTF8_BAD "[2J<broken");
}

static void assert_path(const char *path, const char *prefix, const char *directory, size_t most,
                        const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    tms_display_path(out, path, strlen(path), prefix, directory, most);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void test_paths(void **state)
{
    (void)state;
    assert_path("/usr/src/me/bank/src/bank.c:38", NULL, "/usr/src/me/bank", 40, "src/bank.c:38");
    assert_path("/usr/src/me/lib/lib.c", NULL, "/usr/src/me/bank", 40, "../lib/lib.c");
    assert_path("/etc/include/stdio.h", NULL, "/usr/src/me/bank", 40, "/etc/include/stdio.h");
    assert_path("/usr/src/me/bankrupt/a.c", NULL, "/usr/src/me/bank", 40, "../bankrupt/a.c");
    assert_path("/build/x/src/a.c", "/build/x", "/opt", 40, "src/a.c");
    assert_path("/build/x/src/a.c", "/build/x/", NULL, 40, "src/a.c");
    assert_path("/build/xy/src/a.c", "/build/x", NULL, 40, "/build/xy/src/a.c");
    assert_path("../deep/directory/a.c:5", NULL, "/opt", 10, "…ory/a.c:5");
    assert_path("17", NULL, "/opt", 10, "17");
}

static void test_frames(void **state)
{
    struct fixture *fixture = *state;
    struct written written;
    struct tms_turn lock = {.kind = TMS_EVENT_ACQUIRE,
                            .stack = name(fixture, TMS_CLASS_STACK,
                                          "std::mutex::lock()\t/usr/include/c++/12/mutex\t99\t\n"
                                          "MutexLock::MutexLock\tlib/mutex.h\t12\t\n"
                                          "nni_mtx_lock\tlib/thread.c\t30\t\n"
                                          "add<int>(int)\tlib/add.c\t55\t\n"
                                          "work\tmain.c\t8\t\n")};
    struct tms_turn read = {.kind = TMS_EVENT_READ, .stack = lock.stack};
    struct tms_place place;

    open_page(&written, fixture, 80, false);
    place = tms_place_of_event(&written.page, &lock, 0);
    assert_int_equal(place.line, 55);
    place = tms_place_of_event(&written.page, &read, 0);
    assert_int_equal(place.line, 12);
    place =
        tms_place_of_event(&written.page, &lock, name(fixture, TMS_CLASS_LABEL, "nni_mtx_lock"));
    assert_int_equal(place.line, 30);
    uint32_t add = name(fixture, TMS_CLASS_LABEL, "add<long>");
    assert_true(tms_place_in_block(&written.page, &lock, add, &place));
    assert_int_equal(place.line, 55);
    assert_true(place.called);
    assert_false(tms_place_in_block(&written.page, &lock,
                                    name(fixture, TMS_CLASS_LABEL, "elsewhere"), &place));
    close_page(&written);
    free(written.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lost_update, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_prediction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_doubts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_counts_and_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_verbose, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_patterns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_entries, setup, teardown),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_paths),
        cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
