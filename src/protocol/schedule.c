/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule files; see schedule.h. */
#include "protocol/schedule.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = "tmesis-schedule";

static const char *const strategy_words[] = {
#define X(name, word, meaning) word,
    TMS_STRATEGIES(X)
#undef X
};

const char *tms_strategy_word(enum tms_strategy strategy)
{
    return strategy_words[strategy];
}

/* ---- words -------------------------------------------------------------------------------- */

/* A part of the text; not ended by a zero. */
struct word {
    const char *at;
    size_t length;
};

struct parse {
    struct tms_schedule *schedule;
    struct tms_schedule_complaint *complaint;
    const char *at, *end; /* of the line */
    unsigned given;       /* bits: rows of `keys` that were there */
    bool begun;           /* the first line was there */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; empty at its end, or where a comment begins. */
static struct word next_word(struct parse *parse)
{
    while (parse->at < parse->end && is_blank(*parse->at)) {
        parse->at++;
    }
    struct word word = {parse->at, 0};
    while (parse->at < parse->end && !is_blank(*parse->at) && *word.at != '#') {
        parse->at++;
        word.length++;
    }
    return word;
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

#define SHOWN_MOST 60

/* "expected WHAT, not \"WORD\"". */
static bool refuse(struct parse *parse, const char *expected, struct word word)
{
    char shown[SHOWN_MOST + 1];
    size_t length = word.length < SHOWN_MOST ? word.length : SHOWN_MOST;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)word.at[i];
        shown[i] = c < ' ' || c >= 0x7f ? '?' : (char)c;
    }
    shown[length] = '\0';
    if (word.length == 0) {
        snprintf(parse->complaint->text, TMS_SCHEDULE_COMPLAINT,
                 "expected %s, but the line ends there", expected);
    } else {
        snprintf(parse->complaint->text, TMS_SCHEDULE_COMPLAINT, "expected %s, not \"%s\"",
                 expected, shown);
    }
    return false;
}

/* False if there are digits that make no number of 64 bits, or something else. */
static bool read_number(struct word word, unsigned base, uint64_t *value)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t sum = 0;

    for (size_t i = 0; i < word.length; i++) {
        const char *digit = memchr(digits, word.at[i], base);
        if (digit == NULL || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(digit - digits), &sum)) {
            return false;
        }
    }
    *value = sum;
    return word.length > 0;
}

/* ---- sites -------------------------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
    return c > ' ' && c != '#' && c != '%' && c != '+' && c != 0x7f;
}

/* The base name of a path as sites have it; returns its length. */
static size_t write_object(const char *path, char text[TMS_SITE_OBJECT])
{
    const char *slash = strrchr(path, '/');
    const char *at = slash != NULL ? slash + 1 : path;
    size_t length = 0;

    for (; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        size_t needed = is_plain(c) ? 1 : 3;
        if (length + needed >= TMS_SITE_OBJECT) {
            break;
        }
        if (needed == 1) {
            text[length] = (char)c;
        } else {
            text[length] = '%';
            text[length + 1] = "0123456789abcdef"[c >> 4];
            text[length + 2] = "0123456789abcdef"[c & 15];
        }
        length += needed;
    }
    text[length] = '\0';
    return length;
}

size_t tms_site_write(const char *path, uint64_t offset, char text[TMS_SITE_SIZE])
{
    char object[TMS_SITE_OBJECT];

    write_object(path, object);
    return (size_t)snprintf(text, TMS_SITE_SIZE, "%s+0x%llx", object, (unsigned long long)offset);
}

bool tms_site_is_in(const struct tms_schedule_site *site, const char *path)
{
    char object[TMS_SITE_OBJECT];

    write_object(path, object);
    return strcmp(object, site->object) == 0;
}

static bool read_site(struct parse *parse, struct word word, struct tms_schedule_site *site)
{
    const char *plus = memchr(word.at, '+', word.length);
    size_t object = plus != NULL ? (size_t)(plus - word.at) : 0;
    struct word offset = {plus + 3, word.length - object - 3};

    if (object == 0 || object >= TMS_SITE_OBJECT || word.length < object + 4 ||
        memcmp(plus, "+0x", 3) != 0 || !read_number(offset, 16, &site->offset)) {
        return refuse(parse, "a place in a file, such as bank+0x12ab", word);
    }
    memcpy(site->object, word.at, object);
    site->object[object] = '\0';
    return true;
}

/* ---- lines -------------------------------------------------------------------------------- */

static bool read_strategy(struct parse *parse, struct word word)
{
    for (unsigned i = 0; i < TMS_STRATEGY_COUNT; i++) {
        if (is(word, strategy_words[i])) {
            parse->schedule->strategy = (enum tms_strategy)i;
            return true;
        }
    }
    return refuse(parse, "learn, noise, pct or directed", word);
}

/* "close=SITE": false if the word is none of that name, or none at all. */
static bool has_name(struct word *word, const char *name)
{
    size_t length = strlen(name);

    if (word->length < length || memcmp(word->at, name, length) != 0) {
        return false;
    }
    word->at += length;
    word->length -= length;
    return true;
}

static bool read_window(struct parse *parse)
{
    struct tms_schedule *schedule = parse->schedule;
    struct tms_schedule_window window = {0};
    const struct {
        const char *name;
        struct tms_schedule_site *site;
    } parts[] = {{"close=", &window.close},
                 {"open=", &window.open},
                 {"foreign=", &window.foreign},
                 {"until=", &window.until}};
    const size_t count = sizeof(parts) / sizeof(*parts);
    struct word word;

    while ((word = next_word(parse)).length > 0) {
        size_t i = 0;
        if (is(word, "two-locks") && !window.two_locks) {
            window.two_locks = true;
            continue;
        }
        while (i < count && !has_name(&word, parts[i].name)) {
            i++;
        }
        if (i == count || parts[i].site->object[0] != '\0') {
            return refuse(parse, "close=, open=, foreign=, until= and two-locks, each once at most",
                          word);
        }
        if (!read_site(parse, word, parts[i].site)) {
            return false;
        }
    }
    if (window.close.object[0] == '\0') {
        return refuse(parse, "close=, the place where a thread is held", word);
    }
    if (schedule->window_count == TMS_SCHEDULE_WINDOWS) {
        snprintf(parse->complaint->text, TMS_SCHEDULE_COMPLAINT, "more than %u windows",
                 TMS_SCHEDULE_WINDOWS);
        return false;
    }
    schedule->windows[schedule->window_count++] = window;
    return true;
}

static const struct key {
    const char *name;
    size_t at; /* of a number in struct tms_schedule; 0: it is none */
    uint64_t least, most, usual;
    const char *expected;
} keys[] = {
    {.name = "strategy"},
    {"seed", offsetof(struct tms_schedule, seed), 0, UINT64_MAX, 0,
     "a whole number below 18446744073709551616"},
    {"strength", offsetof(struct tms_schedule, strength), 1, 10000, 100,
     "per cent between 1 and 10000"},
    {"depth", offsetof(struct tms_schedule, depth), 1, 64, 2, "a number between 1 and 64"},
    {"points", offsetof(struct tms_schedule, points), 1, 1000000000, 50,
     "a number between 1 and 1000000000"},
    {"bound", offsetof(struct tms_schedule, bound), 1, 600000, 200,
     "milliseconds between 1 and 600000"},
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static uint64_t *number_of(struct tms_schedule *schedule, const struct key *key)
{
    return (uint64_t *)(void *)((char *)schedule + key->at);
}

void tms_schedule_init(struct tms_schedule *schedule, enum tms_strategy strategy)
{
    schedule->strategy = strategy;
    schedule->window_count = 0;
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].at != 0) {
            *number_of(schedule, &keys[i]) = keys[i].usual;
        }
    }
}

static bool read_key(struct parse *parse, size_t index)
{
    const struct key *key = &keys[index];
    struct word word = next_word(parse);
    uint64_t value;

    if ((parse->given & 1u << index) != 0) {
        snprintf(parse->complaint->text, TMS_SCHEDULE_COMPLAINT, "%s is given twice", key->name);
        return false;
    }
    parse->given |= 1u << index;
    if (key->at == 0) {
        return read_strategy(parse, word);
    }
    if (!read_number(word, 10, &value) || value < key->least || value > key->most) {
        return refuse(parse, key->expected, word);
    }
    *number_of(parse->schedule, key) = value;
    return true;
}

/* A line that is the first, and what follows its first word is read as well. */
static bool read_magic(struct parse *parse, struct word word)
{
    parse->begun = true;
    return is(word, magic) && is(next_word(parse), "1")
               ? true
               : refuse(parse, "\"tmesis-schedule 1\" in the first line", word);
}

static bool read_any(struct parse *parse, struct word word)
{
    if (!parse->begun) {
        return read_magic(parse, word);
    }
    if (is(word, "window")) {
        return read_window(parse);
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (is(word, keys[i].name)) {
            return read_key(parse, i);
        }
    }
    return refuse(parse, "strategy, seed, strength, depth, points, bound or window", word);
}

static bool read_line(struct parse *parse)
{
    struct word word = next_word(parse);

    if (word.length == 0) {
        return true;
    }
    if (!read_any(parse, word)) {
        return false;
    }
    word = next_word(parse);
    return word.length == 0 || refuse(parse, "the end of the line", word);
}

/* ---- the text ----------------------------------------------------------------------------- */

static bool is_complete(struct parse *parse)
{
    const struct tms_schedule *schedule = parse->schedule;
    const char *missing = NULL;

    if (!parse->begun) {
        missing = "expected \"tmesis-schedule 1\" in the first line, but there is none";
    } else if ((parse->given & 1) == 0) {
        missing = "expected a line with the strategy: learn, noise, pct or directed";
    } else if (schedule->strategy == TMS_STRATEGY_DIRECTED && schedule->window_count == 0) {
        missing = "expected a window, which the strategy directed needs";
    }
    if (missing != NULL) {
        snprintf(parse->complaint->text, TMS_SCHEDULE_COMPLAINT, "%s", missing);
    }
    return missing == NULL;
}

bool tms_schedule_parse(struct tms_schedule *schedule, const char *text, size_t length,
                        struct tms_schedule_complaint *complaint)
{
    struct parse parse = {.schedule = schedule, .complaint = complaint};
    const char *end = text + length;

    tms_schedule_init(schedule, TMS_STRATEGY_LEARN);
    complaint->line = 0;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        complaint->line++;
        parse.at = text;
        parse.end = line_end != NULL ? line_end : end;
        if (!read_line(&parse)) {
            return false;
        }
        text = line_end != NULL ? line_end + 1 : end;
    }
    complaint->line += complaint->line == 0;
    return is_complete(&parse);
}
