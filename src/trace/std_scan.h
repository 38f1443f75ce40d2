/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the delimiters of a line of the std format, many bytes at a time. A mark word has bit i set
 * where byte i of the line is such a character, so fields are found by counting zeros, without a
 * loop or a branch on the bytes.
 */
#ifndef TMS_TRACE_STD_SCAN_H
#define TMS_TRACE_STD_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

_Static_assert(('\\' | ' ') == '|', "bars and backslashes are found at once");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "words of text are taken apart by shifts");

struct tms_std_marks {
    uint64_t bars;     /* | and \, which differ in one bit: a backslash may begin an escape */
    uint64_t opens;    /* ( */
    uint64_t controls; /* blank and below: a line end, or what no name may have */
};

#define TMS_STD_SCAN_HALF 32

#ifdef __SSE2__
static inline void tms_std_scan_16(const char *at, unsigned shift, struct tms_std_marks *marks)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i blank = _mm_set1_epi8(' ');
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes);
    __m128i bar = _mm_cmpeq_epi8(_mm_or_si128(bytes, blank), _mm_set1_epi8('|'));
    __m128i open = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('('));

    marks->bars |= (uint64_t)(unsigned)_mm_movemask_epi8(bar) << shift;
    marks->opens |= (uint64_t)(unsigned)_mm_movemask_epi8(open) << shift;
    marks->controls |= (uint64_t)(unsigned)_mm_movemask_epi8(low) << shift;
}

static inline void tms_std_scan_half(const char *at, unsigned shift, struct tms_std_marks *marks)
{
    tms_std_scan_16(at, shift, marks);
    tms_std_scan_16(at + 16, shift + 16, marks);
}
#else
static inline void tms_std_scan_half(const char *at, unsigned shift, struct tms_std_marks *marks)
{
    for (unsigned i = 0; i < TMS_STD_SCAN_HALF; i++) {
        uint64_t bit = UINT64_C(1) << (shift + i);
        marks->bars |= (at[i] | ' ') == '|' ? bit : 0;
        marks->opens |= at[i] == '(' ? bit : 0;
        marks->controls |= (unsigned char)at[i] <= ' ' ? bit : 0;
    }
}
#endif

/* The marks of the 64 bytes at `at`, all of them readable. Most lines end in the first half. */
static inline struct tms_std_marks tms_std_scan(const char *at)
{
    struct tms_std_marks marks = {0};

    tms_std_scan_half(at, 0, &marks);
    if (marks.controls == 0) {
        tms_std_scan_half(at + TMS_STD_SCAN_HALF, TMS_STD_SCAN_HALF, &marks);
    }
    return marks;
}

/* The first `length` bytes, 1 to 8, of the word at `at`; the others are zero. */
static inline uint64_t tms_std_word(const char *at, unsigned length)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word << (64 - 8 * length) >> (64 - 8 * length);
}

/*
 * The location id of a plain decimal number of 1 to 8 digits, else 0. The digits are moved to
 * the upper end of a word that is otherwise '0', then pairs, fours and eights are summed up by
 * one multiplication each.
 */
static inline uint32_t tms_std_number(const char *at, unsigned length, uint32_t base)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    word <<= 64 - 8 * length;
    word |= length == 8 ? 0 : zeros >> (8 * length);
    uint64_t digits = word ^ zeros;
    bool decimal =
        ((digits | (digits + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0)) == 0;
    if (!decimal || (at[0] == '0' && length > 1)) {
        return 0;
    }
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return base + (uint32_t)(digits * 10000 + (digits >> 32));
}

#endif
