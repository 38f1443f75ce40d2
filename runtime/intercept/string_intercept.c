/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of <string.h> that access the program's memory: the C library is not instrumented,
 * so their accesses are recorded here, on behalf of the caller, for exactly the bytes that the C
 * standard has them touch. Calls from uninstrumented libraries count as well: they touch the
 * program's memory in the same way.
 *
 * Calls by the runtime itself also arrive here; the thread is inside the runtime then, and nothing
 * is recorded. Accesses are recorded before they happen, as in all hooks, except for lengths that
 * only the search finds.
 */
#undef _FORTIFY_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/intercept/interpose.h"
#include "runtime/intercept/malloc_intercept.h"

TMS_RT_REAL(void *, memcpy, (void *, const void *, size_t))
TMS_RT_REAL(size_t, strlen, (const char *))
TMS_RT_REAL(size_t, strnlen, (const char *, size_t))

#define NO_LIMIT ((size_t)PTRDIFF_MAX)

static void reads(const void *from, size_t size, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)from, size, TMS_RT_READ, pc));
}

static void reads_two(const void *one, size_t one_size, const void *other, size_t other_size,
                      uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)one, one_size, TMS_RT_READ, pc);
                  tms_rt_access(thread, (uintptr_t)other, other_size, TMS_RT_READ, pc));
}

static void writes(void *to, size_t size, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)to, size, TMS_RT_WRITE, pc));
}

static void copies(void *to, const void *from, size_t size, uintptr_t pc)
{
    TMS_RT_REPORT(tms_rt_access(thread, (uintptr_t)from, size, TMS_RT_READ, pc);
                  tms_rt_access(thread, (uintptr_t)to, size, TMS_RT_WRITE, pc));
}

/* The size of a string with its terminator, but not more than `limit`. */
static size_t extent(const char *text, size_t limit)
{
    size_t length = real_strnlen()(text, limit);
    return length < limit ? length + 1 : limit;
}

static size_t whole(const char *text)
{
    return real_strlen()(text) + 1;
}

/* ---- blocks of memory ------------------------------------------------------------------- */

#define COPIES(name, result)                                                                       \
    TMS_RT_REAL(result, name, (void *, const void *, size_t))                                      \
    TMS_RT_INTERPOSE result name(void *to, const void *from, size_t size)                          \
    {                                                                                              \
        copies(to, from, size, TMS_RT_PC());                                                       \
        return real_##name()(to, from, size);                                                      \
    }

/* As above, with the size of the object at `to`, which the real function checks. */
#define COPIES_CHECKED(name)                                                                       \
    TMS_RT_REAL(void *, name, (void *, const void *, size_t, size_t))                              \
    TMS_RT_INTERPOSE void *name(void *to, const void *from, size_t size, size_t room);             \
    TMS_RT_INTERPOSE void *name(void *to, const void *from, size_t size, size_t room)              \
    {                                                                                              \
        if (size <= room) {                                                                        \
            copies(to, from, size, TMS_RT_PC());                                                   \
        }                                                                                          \
        return real_##name()(to, from, size, room);                                                \
    }

TMS_RT_INTERPOSE void *memcpy(void *to, const void *from, size_t size)
{
    copies(to, from, size, TMS_RT_PC());
    return real_memcpy()(to, from, size);
}

COPIES(memmove, void *)
COPIES(mempcpy, void *)
COPIES_CHECKED(__memcpy_chk)
COPIES_CHECKED(__memmove_chk)
COPIES_CHECKED(__mempcpy_chk)

TMS_RT_REAL(void, bcopy, (const void *, void *, size_t))
TMS_RT_INTERPOSE void bcopy(const void *from, void *to, size_t size)
{
    copies(to, from, size, TMS_RT_PC());
    real_bcopy()(from, to, size);
}

TMS_RT_REAL(void *, memset, (void *, int, size_t))
TMS_RT_INTERPOSE void *memset(void *to, int byte, size_t size)
{
    writes(to, size, TMS_RT_PC());
    return real_memset()(to, byte, size);
}

TMS_RT_REAL(void *, __memset_chk, (void *, int, size_t, size_t))
TMS_RT_INTERPOSE void *__memset_chk(void *to, int byte, size_t size, size_t room);
TMS_RT_INTERPOSE void *__memset_chk(void *to, int byte, size_t size, size_t room)
{
    if (size <= room) {
        writes(to, size, TMS_RT_PC());
    }
    return real___memset_chk()(to, byte, size, room);
}

TMS_RT_REAL(void, bzero, (void *, size_t))
TMS_RT_INTERPOSE void bzero(void *to, size_t size)
{
    writes(to, size, TMS_RT_PC());
    real_bzero()(to, size);
}

#define COMPARES_MEMORY(name)                                                                      \
    TMS_RT_REAL(int, name, (const void *, const void *, size_t))                                   \
    TMS_RT_INTERPOSE int name(const void *one, const void *other, size_t size);                    \
    TMS_RT_INTERPOSE int name(const void *one, const void *other, size_t size)                     \
    {                                                                                              \
        reads_two(one, size, other, size, TMS_RT_PC());                                            \
        return real_##name()(one, other, size);                                                    \
    }

COMPARES_MEMORY(memcmp)
COMPARES_MEMORY(bcmp)
COMPARES_MEMORY(__memcmpeq) /* compilers emit it for a memcmp that is only compared with zero */

TMS_RT_REAL(void *, memchr, (const void *, int, size_t))
TMS_RT_INTERPOSE void *memchr(const void *from, int byte, size_t size)
{
    char *found = real_memchr()(from, byte, size);
    reads(from, found == NULL ? size : (size_t)(found + 1 - (const char *)from), TMS_RT_PC());
    return found;
}

TMS_RT_REAL(void *, memrchr, (const void *, int, size_t))
TMS_RT_INTERPOSE void *memrchr(const void *from, int byte, size_t size)
{
    char *found = real_memrchr()(from, byte, size);
    const char *first = found == NULL ? from : found;
    reads(first, size - (size_t)(first - (const char *)from), TMS_RT_PC());
    return found;
}

/* ---- strings: lengths and copies -------------------------------------------------------- */

TMS_RT_INTERPOSE size_t strlen(const char *text)
{
    size_t length = real_strlen()(text);
    reads(text, length + 1, TMS_RT_PC());
    return length;
}

TMS_RT_INTERPOSE size_t strnlen(const char *text, size_t limit)
{
    size_t length = real_strnlen()(text, limit);
    reads(text, length < limit ? length + 1 : limit, TMS_RT_PC());
    return length;
}

/* The accesses of a function that copies a string. `limit` may be NO_LIMIT. */
static void copies_string(char *to, const char *from, size_t limit, uintptr_t pc)
{
    copies(to, from, extent(from, limit), pc);
}

/* The rest of the room is filled with zeros. */
static void copies_padded(char *to, const char *from, size_t limit, uintptr_t pc)
{
    reads(from, extent(from, limit), pc);
    writes(to, limit, pc);
}

/* Finds the end of `to` and overwrites it; the result is always terminated. */
static void appends_string(char *to, const char *from, size_t limit, uintptr_t pc)
{
    size_t old = real_strlen()(to);
    reads(to, old + 1, pc);
    reads(from, extent(from, limit), pc);
    writes(to + old, real_strnlen()(from, limit) + 1, pc);
}

#define COPIES_STRING(name, touches)                                                               \
    TMS_RT_REAL(char *, name, (char *, const char *))                                              \
    TMS_RT_INTERPOSE char *name(char *to, const char *from)                                        \
    {                                                                                              \
        touches(to, from, NO_LIMIT, TMS_RT_PC());                                                  \
        return real_##name()(to, from);                                                            \
    }                                                                                              \
    TMS_RT_REAL(char *, __##name##_chk, (char *, const char *, size_t))                            \
    TMS_RT_INTERPOSE char *__##name##_chk(char *to, const char *from, size_t room);                \
    TMS_RT_INTERPOSE char *__##name##_chk(char *to, const char *from, size_t room)                 \
    {                                                                                              \
        touches(to, from, NO_LIMIT, TMS_RT_PC());                                                  \
        return real___##name##_chk()(to, from, room);                                              \
    }

#define COPIES_STRING_UP_TO(name, touches)                                                         \
    TMS_RT_REAL(char *, name, (char *, const char *, size_t))                                      \
    TMS_RT_INTERPOSE char *name(char *to, const char *from, size_t limit)                          \
    {                                                                                              \
        touches(to, from, limit, TMS_RT_PC());                                                     \
        return real_##name()(to, from, limit);                                                     \
    }                                                                                              \
    TMS_RT_REAL(char *, __##name##_chk, (char *, const char *, size_t, size_t))                    \
    TMS_RT_INTERPOSE char *__##name##_chk(char *to, const char *from, size_t limit, size_t room);  \
    TMS_RT_INTERPOSE char *__##name##_chk(char *to, const char *from, size_t limit, size_t room)   \
    {                                                                                              \
        touches(to, from, limit, TMS_RT_PC());                                                     \
        return real___##name##_chk()(to, from, limit, room);                                       \
    }

COPIES_STRING(strcpy, copies_string)
COPIES_STRING(stpcpy, copies_string)
COPIES_STRING(strcat, appends_string)
COPIES_STRING_UP_TO(strncpy, copies_padded)
COPIES_STRING_UP_TO(stpncpy, copies_padded)
COPIES_STRING_UP_TO(strncat, appends_string)

static char *duplicate(const char *text, size_t length, uintptr_t pc)
{
    tms_rt_allocating(pc);
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        return NULL;
    }
    writes(copy, length + 1, pc);
    real_memcpy()(copy, text, length);
    copy[length] = '\0';
    return copy;
}

TMS_RT_INTERPOSE char *strdup(const char *text)
{
    size_t length = real_strlen()(text);
    reads(text, length + 1, TMS_RT_PC());
    return duplicate(text, length, TMS_RT_PC());
}

TMS_RT_INTERPOSE char *strndup(const char *text, size_t limit)
{
    reads(text, extent(text, limit), TMS_RT_PC());
    return duplicate(text, real_strnlen()(text, limit), TMS_RT_PC());
}

/* ---- strings: comparing and searching --------------------------------------------------- */

/* How far a comparison reads: to the first difference or the end, and `limit` at most. */
static inline size_t compared(const char *one, const char *other, size_t limit, bool fold)
{
    for (size_t i = 0; i < limit; i++) {
        unsigned char a = (unsigned char)one[i], b = (unsigned char)other[i];
        if (a == '\0' || (fold ? tolower(a) != tolower(b) : a != b)) {
            return i + 1;
        }
    }
    return limit;
}

#define COMPARES(name, fold)                                                                       \
    TMS_RT_REAL(int, name, (const char *, const char *))                                           \
    TMS_RT_INTERPOSE int name(const char *one, const char *other)                                  \
    {                                                                                              \
        size_t size = compared(one, other, NO_LIMIT, fold);                                        \
        reads_two(one, size, other, size, TMS_RT_PC());                                            \
        return real_##name()(one, other);                                                          \
    }

#define COMPARES_UP_TO(name, fold)                                                                 \
    TMS_RT_REAL(int, name, (const char *, const char *, size_t))                                   \
    TMS_RT_INTERPOSE int name(const char *one, const char *other, size_t limit)                    \
    {                                                                                              \
        size_t size = compared(one, other, limit, fold);                                           \
        reads_two(one, size, other, size, TMS_RT_PC());                                            \
        return real_##name()(one, other, limit);                                                   \
    }

COMPARES(strcmp, false)
COMPARES(strcasecmp, true)
COMPARES_UP_TO(strncmp, false)
COMPARES_UP_TO(strncasecmp, true)

/* Reads up to what it finds, or the whole string. */
#define FINDS(name)                                                                                \
    TMS_RT_REAL(char *, name, (const char *, int))                                                 \
    TMS_RT_INTERPOSE char *name(const char *text, int character)                                   \
    {                                                                                              \
        char *found = real_##name()(text, character);                                              \
        reads(text, found == NULL ? whole(text) : (size_t)(found + 1 - text), TMS_RT_PC());        \
        return found;                                                                              \
    }

FINDS(strchr)
FINDS(strchrnul)
FINDS(index)

#define FINDS_LAST(name)                                                                           \
    TMS_RT_REAL(char *, name, (const char *, int))                                                 \
    TMS_RT_INTERPOSE char *name(const char *text, int character)                                   \
    {                                                                                              \
        reads(text, whole(text), TMS_RT_PC());                                                     \
        return real_##name()(text, character);                                                     \
    }

FINDS_LAST(strrchr)
FINDS_LAST(rindex)

#define FINDS_TEXT(name)                                                                           \
    TMS_RT_REAL(char *, name, (const char *, const char *))                                        \
    TMS_RT_INTERPOSE char *name(const char *text, const char *wanted)                              \
    {                                                                                              \
        char *found = real_##name()(text, wanted);                                                 \
        size_t length = real_strlen()(wanted);                                                     \
        size_t read = found == NULL ? whole(text) : (size_t)(found - text) + length;               \
        reads_two(text, read, wanted, length + 1, TMS_RT_PC());                                    \
        return found;                                                                              \
    }

FINDS_TEXT(strstr)
FINDS_TEXT(strcasestr)

/* Reads up to the end of the span, and the set whole. */
#define SPANS(name)                                                                                \
    TMS_RT_REAL(size_t, name, (const char *, const char *))                                        \
    TMS_RT_INTERPOSE size_t name(const char *text, const char *set)                                \
    {                                                                                              \
        size_t span = real_##name()(text, set);                                                    \
        reads_two(text, span + 1, set, whole(set), TMS_RT_PC());                                   \
        return span;                                                                               \
    }

SPANS(strspn)
SPANS(strcspn)
