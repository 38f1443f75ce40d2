/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes of the std format; see std_escape.h. */
#include "trace/std_escape.h"

#include <string.h>

/* Skipped at the start of a file. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte = (char)(byte | ('a' ^ 'A'));
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The byte that the escape at `at` encodes; 0: there is none. */
static unsigned char escaped_at(const char *at, size_t left)
{
    if (left < TMS_STD_ESCAPE_SIZE || at[0] != '\\' || at[1] != 'x') {
        return 0;
    }
    int high = digit_of(at[2]), low = digit_of(at[3]);
    if (high < 0 || low < 0) {
        return 0;
    }
    int byte = high << 4 | low;
    bool known = byte <= ' ' || byte == '#' || byte == '|' || byte == '\\' || byte == 0xef;
    return known ? (unsigned char)byte : 0;
}

/* Is this no thread name at the start of a line? */
static bool is_special_start(const char *name, size_t length)
{
    size_t mark = strlen(byte_order_mark);

    return name[0] == '#' || (length >= mark && memcmp(name, byte_order_mark, mark) == 0);
}

static bool needs_escape(enum tms_class cls, const char *name, size_t length, size_t at)
{
    unsigned char byte = (unsigned char)name[at];

    if (byte == '\\') {
        return escaped_at(&name[at], length - at) != 0;
    }
    if (cls == TMS_CLASS_LOCATION) {
        return byte == '|' || byte == '\n' || (byte == '\r' && at + 1 == length);
    }
    return byte <= ' ' || byte == '|' ||
           (cls == TMS_CLASS_THREAD && at == 0 && is_special_start(name, length));
}

bool tms_std_is_plain(enum tms_class cls, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (needs_escape(cls, name, length, i)) {
            return false;
        }
    }
    return true;
}

char *tms_std_escape(enum tms_class cls, const char *name, size_t length, char *to)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < length; i++) {
        if (needs_escape(cls, name, length, i)) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = digits[(unsigned char)name[i] >> 4];
            *to++ = digits[name[i] & 15];
        } else {
            *to++ = name[i];
        }
    }
    return to;
}

size_t tms_std_unescape(const char *text, size_t length, char *to)
{
    size_t count = 0;

    for (size_t i = 0; i < length; count++) {
        unsigned char byte = escaped_at(&text[i], length - i);
        to[count] = byte != 0 ? (char)byte : text[i];
        i += byte != 0 ? TMS_STD_ESCAPE_SIZE : 1;
    }
    return count;
}
