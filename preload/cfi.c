/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads call frame information; see cfi.h. The format is DWARF's, with the changes that the Linux
 * Standard Base describes for .eh_frame and .eh_frame_hdr. The data comes from a compiler and is
 * trusted; anything unexpected makes the row unusable.
 */
#include "cfi.h"

#include <string.h>

#define REMEMBERS 8

/* ---- numbers ---------------------------------------------------------------------------- */

static uint64_t take_uleb(const uint8_t **at)
{
    uint64_t value = 0;
    uint8_t byte;

    for (unsigned shift = 0;; shift += 7) {
        byte = *(*at)++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            return value;
        }
    }
}

static int64_t take_sleb(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = *(*at)++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte >= 0x80);
    if (shift < 64 && (byte & 0x40) != 0) {
        value |= ~UINT64_C(0) << shift;
    }
    return (int64_t)value;
}

static uint64_t take_bytes(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, *at, bytes); /* little endian, like the machine */
    *at += bytes;
    return value;
}

#define ENCODED_AS_SIGNED 0x08
#define RELATIVE_TO_HERE  0x10
#define ENCODING_SIZE     0x07

/* Reads an encoded pointer; false: an encoding that is not used for code. */
static bool take_pointer(const uint8_t **at, uint8_t encoding, bool relative, uint64_t *value)
{
    static const uint8_t sizes[] = {8, 0, 2, 4, 8, 0, 0, 0};
    unsigned bytes = sizes[encoding & ENCODING_SIZE];
    uint64_t here = (uintptr_t)*at;

    if (bytes == 0 || (encoding & 0x60) != 0 || encoding >= 0x80) {
        return false;
    }
    uint64_t raw = take_bytes(at, bytes);
    if ((encoding & ENCODED_AS_SIGNED) != 0 && bytes < 8 && relative) {
        raw = (uint64_t)((int64_t)(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    }
    *value = raw + (relative && (encoding & RELATIVE_TO_HERE) != 0 ? here : 0);
    return true;
}

/* ---- the entry of a function ------------------------------------------------------------- */

struct entry {
    const uint8_t *program, *program_end; /* of the function */
    const uint8_t *common, *common_end;   /* the common part before it */
    uint64_t start, code_unit;
    int64_t data_unit;
    bool signal;
};

/* Binary search in the linker's index for the last function that starts at or before pc. */
static const uint8_t *find_entry(const uint8_t *index, uintptr_t pc)
{
    const struct {
        int32_t start, entry;
    } * rows;
    uint32_t count;

    /* Version 1; a 4-byte count; rows are pairs of 4-byte values, relative to the index. */
    if (index == NULL || index[0] != 1 || index[1] != 0x1b || index[2] != 0x03 ||
        index[3] != 0x3b) {
        return NULL;
    }
    memcpy(&count, index + 8, sizeof(count));
    rows = (const void *)(index + 12);
    int64_t wanted = (int64_t)(pc - (uintptr_t)index);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].start <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? NULL : index + rows[low - 1].entry;
}

/* The part that functions share (CIE); `encoding` is that of their addresses. */
static bool read_common(struct entry *entry, const uint8_t *at, uint8_t *encoding, bool *augmented)
{
    uint32_t length;
    uint64_t ignored;

    memcpy(&length, at, sizeof(length));
    entry->common_end = at + 4 + length;
    uint8_t version = at[8];
    const char *augmentation = (const char *)at + 9;
    *augmented = augmentation[0] == 'z';
    *encoding = 0;
    if (length == UINT32_MAX || (version != 1 && version != 3) ||
        (augmentation[0] != 'z' && augmentation[0] != '\0')) {
        return false;
    }
    at = (const uint8_t *)augmentation + strlen(augmentation) + 1;
    entry->code_unit = take_uleb(&at);
    entry->data_unit = take_sleb(&at);
    uint64_t return_register = version == 1 ? *at++ : take_uleb(&at);
    const uint8_t *after = at;
    if (*augmented) {
        uint64_t bytes = take_uleb(&at);
        after = at + bytes;
    }
    for (const char *letter = augmentation + *augmented; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            *encoding = *at++;
        } else if (*letter == 'L') {
            at++;
        } else if (*letter == 'P') {
            uint8_t how = *at++ & 0x0f;
            if (!take_pointer(&at, how, false, &ignored)) {
                return false;
            }
        } else if (*letter == 'S') {
            entry->signal = true;
        } else {
            return false;
        }
    }
    entry->common = after;
    return return_register == TMS_RT_RIP;
}

static bool read_entry(struct entry *entry, const uint8_t *at, uintptr_t pc)
{
    uint32_t length, back;
    uint8_t encoding;
    bool augmented;
    uint64_t bytes;

    memcpy(&length, at, sizeof(length));
    memcpy(&back, at + 4, sizeof(back));
    if (length == UINT32_MAX || back == 0 ||
        !read_common(entry, at + 4 - back, &encoding, &augmented)) {
        return false;
    }
    entry->program_end = at + 4 + length;
    at += 8;
    if (!take_pointer(&at, encoding, true, &entry->start) ||
        !take_pointer(&at, encoding, false, &bytes) || pc - entry->start >= bytes) {
        return false;
    }
    if (augmented) {
        uint64_t skipped = take_uleb(&at);
        at += skipped;
    }
    entry->program = at;
    return true;
}

/* ---- the program of a function ------------------------------------------------------------ */

struct machine {
    const struct entry *entry;
    struct tms_rt_row row, initial, remembered[REMEMBERS];
    unsigned depth;
    uint64_t location;
};

/*
 * The two kinds of DWARF expression that compilers use when they realign a stack: an address
 * relative to the frame pointer, and the value in memory there.
 */
static bool simple_expression(const uint8_t **at, int64_t *offset, bool *in_memory)
{
    uint64_t length = take_uleb(at);
    const uint8_t *end = *at + length;
    const uint8_t *code = *at;

    *at = end;
    if (length < 2 || *code++ != 0x70 + TMS_RT_RBP) { /* DW_OP_breg6 */
        return false;
    }
    *offset = take_sleb(&code);
    *in_memory = code < end && *code == 0x06; /* DW_OP_deref */
    return code + *in_memory == end;
}

static void save_register(struct machine *m, uint64_t number, enum tms_rt_saved how, int64_t offset)
{
    if (number == TMS_RT_RBP) {
        m->row.bp = (uint8_t)how;
        m->row.bp_offset = offset;
    } else if (number == TMS_RT_RIP) {
        m->row.ip = (uint8_t)how;
        m->row.ip_offset = offset;
    } else if (number == TMS_RT_RSP) {
        m->row.bad = true; /* it is the CFA, or this is not an ordinary function */
    }
}

static void restore_register(struct machine *m, uint64_t number)
{
    if (number == TMS_RT_RBP) {
        m->row.bp = m->initial.bp;
        m->row.bp_offset = m->initial.bp_offset;
    } else if (number == TMS_RT_RIP) {
        m->row.ip = m->initial.ip;
        m->row.ip_offset = m->initial.ip_offset;
    }
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
    m->row.cfa_register = number < TMS_RT_RIP ? (uint8_t)number : TMS_RT_RIP;
    m->row.cfa_offset = offset;
    m->row.cfa_in_memory = false;
}

static void save_by_expression(struct machine *m, const uint8_t **at, bool value)
{
    uint64_t number = take_uleb(at);
    int64_t offset;
    bool in_memory;
    bool known = simple_expression(at, &offset, &in_memory) && !in_memory && !value;

    save_register(m, number, known ? TMS_RT_AT_BP : TMS_RT_OTHER, known ? offset : 0);
}

/* Values of DW_CFA_…; of those below, the two upper bits are the instruction. */
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0,
    CFA_SET_LOCATION = 1,
    CFA_ADVANCE_1 = 2,
    CFA_ADVANCE_2 = 3,
    CFA_ADVANCE_4 = 4,
    CFA_OFFSET_EXTENDED = 5,
    CFA_RESTORE_EXTENDED = 6,
    CFA_UNDEFINED = 7,
    CFA_SAME_VALUE = 8,
    CFA_REGISTER = 9,
    CFA_REMEMBER = 10,
    CFA_RESTORE_STATE = 11,
    CFA_DEFINE = 12,
    CFA_DEFINE_REGISTER = 13,
    CFA_DEFINE_OFFSET = 14,
    CFA_DEFINE_EXPRESSION = 15,
    CFA_EXPRESSION = 16,
    CFA_OFFSET_EXTENDED_SIGNED = 17,
    CFA_DEFINE_SIGNED = 18,
    CFA_DEFINE_OFFSET_SIGNED = 19,
    CFA_VALUE_OFFSET = 20,
    CFA_VALUE_OFFSET_SIGNED = 21,
    CFA_VALUE_EXPRESSION = 22,
    CFA_ARGUMENTS_SIZE = 0x2e,
};

static void remember(struct machine *m)
{
    if (m->depth == REMEMBERS) {
        m->row.bad = true;
    } else {
        m->remembered[m->depth++] = m->row;
    }
}

static void recall(struct machine *m)
{
    bool bad = m->row.bad;

    if (m->depth > 0) {
        m->row = m->remembered[--m->depth];
    }
    m->row.bad = m->row.bad || bad;
}

/* Instructions that define the CFA; false: it is another one. */
static bool define_cfa(struct machine *m, uint8_t code, const uint8_t **at)
{
    uint64_t number = m->row.cfa_register;
    int64_t offset = m->row.cfa_offset;

    switch (code) {
    case CFA_DEFINE:
    case CFA_DEFINE_SIGNED:
        number = take_uleb(at);
        offset = code == CFA_DEFINE ? (int64_t)take_uleb(at) : take_sleb(at) * m->entry->data_unit;
        break;
    case CFA_DEFINE_REGISTER:
        number = take_uleb(at);
        break;
    case CFA_DEFINE_OFFSET:
        offset = (int64_t)take_uleb(at);
        break;
    case CFA_DEFINE_OFFSET_SIGNED:
        offset = take_sleb(at) * m->entry->data_unit;
        break;
    case CFA_DEFINE_EXPRESSION: {
        bool in_memory;
        bool known = simple_expression(at, &offset, &in_memory);
        set_cfa(m, known ? TMS_RT_RBP : TMS_RT_RIP, offset);
        m->row.cfa_in_memory = known && in_memory;
        return true;
    }
    default:
        return false;
    }
    set_cfa(m, number, offset);
    return true;
}

/* Instructions that say where a register is saved. */
static void keep_register(struct machine *m, uint8_t code, const uint8_t **at)
{
    int64_t unit = m->entry->data_unit;
    uint64_t number = code == CFA_EXPRESSION || code == CFA_VALUE_EXPRESSION ? 0 : take_uleb(at);

    switch (code) {
    case CFA_OFFSET_EXTENDED:
        save_register(m, number, TMS_RT_AT_CFA, (int64_t)take_uleb(at) * unit);
        break;
    case CFA_OFFSET_EXTENDED_SIGNED:
        save_register(m, number, TMS_RT_AT_CFA, take_sleb(at) * unit);
        break;
    case CFA_RESTORE_EXTENDED:
        restore_register(m, number);
        break;
    case CFA_UNDEFINED:
        save_register(m, number, TMS_RT_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        save_register(m, number, TMS_RT_SAME, 0);
        break;
    case CFA_EXPRESSION:
    case CFA_VALUE_EXPRESSION:
        save_by_expression(m, at, code == CFA_VALUE_EXPRESSION);
        break;
    default: /* in another register, or a value offset: compilers do not do that with these */
        (void)take_uleb(at);
        save_register(m, number, TMS_RT_OTHER, 0);
    }
}

/* Instructions that advance the location; false: it is another one. */
static bool advance(struct machine *m, uint8_t code, const uint8_t **at)
{
    if ((code & CFA_RESTORE) == CFA_ADVANCE) {
        m->location += (code & 0x3f) * m->entry->code_unit;
    } else if (code >= CFA_ADVANCE_1 && code <= CFA_ADVANCE_4) {
        m->location += take_bytes(at, 1u << (code - CFA_ADVANCE_1)) * m->entry->code_unit;
    } else {
        return false;
    }
    return true;
}

static void run_other(struct machine *m, uint8_t code, const uint8_t **at)
{
    if ((code & CFA_RESTORE) == CFA_OFFSET) {
        save_register(m, code & 0x3f, TMS_RT_AT_CFA, (int64_t)take_uleb(at) * m->entry->data_unit);
    } else if ((code & CFA_RESTORE) == CFA_RESTORE) {
        restore_register(m, code & 0x3f);
    } else if (code == CFA_REMEMBER) {
        remember(m);
    } else if (code == CFA_RESTORE_STATE) {
        recall(m);
    } else if (code == CFA_ARGUMENTS_SIZE) {
        (void)take_uleb(at);
    } else if (code >= CFA_OFFSET_EXTENDED && code <= CFA_VALUE_EXPRESSION) {
        keep_register(m, code, at);
    } else if (code != CFA_NOP) {
        m->row.bad = true;
    }
}

/* Runs the instructions up to the row for pc. */
static void run(struct machine *m, const uint8_t *at, const uint8_t *end, uintptr_t pc)
{
    while (at < end && !m->row.bad) {
        uint8_t code = *at++;
        if (advance(m, code, &at)) {
            if (m->location > pc) {
                return;
            }
        } else if (!define_cfa(m, code, &at)) {
            run_other(m, code, &at);
        }
    }
}

bool tms_rt_find_row(const uint8_t *index, uintptr_t pc, struct tms_rt_row *row,
                     uintptr_t *function)
{
    struct entry entry = {0};
    const uint8_t *found = find_entry(index, pc);

    if (found == NULL || !read_entry(&entry, found, pc) || entry.signal) {
        return false;
    }
    struct machine machine = {.entry = &entry, .location = entry.start};
    run(&machine, entry.common, entry.common_end, UINTPTR_MAX);
    machine.initial = machine.row;
    run(&machine, entry.program, entry.program_end, pc);
    *row = machine.row;
    *function = entry.start;
    return true;
}
