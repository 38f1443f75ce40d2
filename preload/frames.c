/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from frame to frame, and the cache of rules for them; see frames.h. */
#include "frames.h"
#include "base/hash_mix.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "cfi.h"
#include "runtime/core/rt.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"

#define RULES (1u << 16)
#define TRIES 64u

enum cfa_from { CFA_SP, CFA_BP, CFA_AT_BP /* it is in memory, at bp + offset */ };
enum bp_from { BP_SAME, BP_AT_CFA, BP_AT_BP };

/* How to step out of a frame whose return address is `pc`. */
struct rule {
    _Atomic uintptr_t pc; /* 0: free; written last */
    uintptr_t function;
    int32_t cfa_offset, bp_offset;
    uint8_t cfa, bp; /* enum cfa_from, enum bp_from */
    uint8_t step;    /* enum tms_rt_step */
};

static struct {
    struct tms_rt_mutex lock;
    struct rule *_Atomic table; /* RULES of them */
} frames;

/* ---- rules ------------------------------------------------------------------------------ */

static void settle_rule(struct rule *rule, const struct tms_rt_row *row)
{
    bool by_bp = row->cfa_register == TMS_RT_RBP;
    bool good = !row->bad && (by_bp || (row->cfa_register == TMS_RT_RSP && !row->cfa_in_memory)) &&
                row->ip == TMS_RT_AT_CFA && row->ip_offset == -(int64_t)sizeof(uintptr_t) &&
                (row->bp == TMS_RT_SAME || row->bp == TMS_RT_AT_CFA || row->bp == TMS_RT_AT_BP) &&
                row->cfa_offset == (int32_t)row->cfa_offset &&
                row->bp_offset == (int32_t)row->bp_offset;

    rule->step = row->ip == TMS_RT_UNDEFINED && !row->bad ? TMS_RT_OUTERMOST
                 : good                                   ? TMS_RT_STEPPED
                                                          : TMS_RT_UNKNOWN;
    rule->cfa = row->cfa_in_memory ? CFA_AT_BP : by_bp ? CFA_BP : CFA_SP;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    rule->bp = row->bp == TMS_RT_SAME ? BP_SAME : row->bp == TMS_RT_AT_CFA ? BP_AT_CFA : BP_AT_BP;
    rule->bp_offset = (int32_t)row->bp_offset;
}

static bool is_unwinder(const struct dl_find_object *object)
{
    static const char *const libraries[] = {"libgcc_s.so", "libunwind.so"};
    const char *slash = strrchr(object->dlfo_link_map->l_name, '/');

    for (size_t i = 0; slash != NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (strncmp(slash + 1, libraries[i], strlen(libraries[i])) == 0) {
            return true;
        }
    }
    return false;
}

struct question {
    struct rule *rule;
    uintptr_t pc; /* a return address: the call before it counts */
};

static void answer(void *argument)
{
    const struct question *question = argument;
    struct rule *rule = question->rule;
    uintptr_t pc = question->pc;
    struct dl_find_object object;

    if (_dl_find_object((void *)pc, &object) != 0) {
        return;
    }
    if (is_unwinder(&object)) {
        rule->step = TMS_RT_UNWINDER;
        return;
    }
    struct tms_rt_row row;
    if (!tms_rt_find_row(object.dlfo_eh_frame, pc - 1, &row, &rule->function)) {
        return;
    }
    settle_rule(rule, &row);
}

static void work_out(struct rule *rule, uintptr_t pc)
{
    struct question question = {rule, pc};

    *rule = (struct rule){.step = TMS_RT_UNKNOWN};
    tms_rt_call_deep(answer, &question);
}

void tms_rt_frames_restart(void)
{
    tms_rt_mutex_restart(&frames.lock);
}

static struct rule *add_rule(struct rule *table, uintptr_t pc, struct rule *spare)
{
    size_t at = tms_hash(pc) >> 40;
    struct rule *found = NULL;

    work_out(spare, pc);
    tms_rt_mutex_lock(&frames.lock);
    for (unsigned tries = 0; tries < TRIES && found == NULL; tries++, at++) {
        struct rule *row = &table[at % RULES];
        uintptr_t there = atomic_load(&row->pc);
        if (there == 0) {
            row->function = spare->function;
            row->cfa_offset = spare->cfa_offset;
            row->bp_offset = spare->bp_offset;
            row->cfa = spare->cfa;
            row->bp = spare->bp;
            row->step = spare->step;
            atomic_store_explicit(&row->pc, pc, memory_order_release);
        }
        found = there == 0 || there == pc ? row : NULL;
    }
    tms_rt_mutex_unlock(&frames.lock);
    return found != NULL ? found : spare; /* no room in the table: decoded every time */
}

/* `spare` is for a rule that is not cached. */
static const struct rule *rule_of(uintptr_t pc, struct rule *spare)
{
    struct rule *table = atomic_load_explicit(&frames.table, memory_order_acquire);
    size_t at = tms_hash(pc) >> 40;

    if (table == NULL) {
        tms_rt_forget_frames();
        table = atomic_load(&frames.table);
    }
    if (table == NULL) {
        work_out(spare, pc);
        return spare;
    }
    for (unsigned tries = 0; tries < TRIES; tries++, at++) {
        const struct rule *row = &table[at % RULES];
        uintptr_t there = atomic_load_explicit(&row->pc, memory_order_acquire);
        if (there == pc) {
            return row;
        }
        if (there == 0) {
            break;
        }
    }
    return add_rule(table, pc, spare);
}

/* Other threads may still read the old table, so it stays mapped. */
void tms_rt_forget_frames(void)
{
    atomic_store_explicit(&frames.table, tms_rt_map(RULES * sizeof(struct rule)),
                          memory_order_release);
}

/* ---- steps ------------------------------------------------------------------------------ */

static bool load(const struct tms_rt_cursor *cursor, uintptr_t address, uintptr_t *value)
{
    if (address < cursor->low || address > cursor->high - sizeof(*value) || address % 8 != 0) {
        return false;
    }
    *value = *(const uintptr_t *)address;
    return true;
}

enum tms_rt_step tms_rt_step(struct tms_rt_cursor *cursor, uintptr_t **slot, uintptr_t *function)
{
    struct rule spare;
    const struct rule *rule = rule_of(cursor->pc, &spare);
    uintptr_t cfa, bp = cursor->bp;

    *function = rule->function;
    if (rule->step != TMS_RT_STEPPED) {
        return (enum tms_rt_step)rule->step;
    }
    cfa = (rule->cfa == CFA_SP ? cursor->sp : bp) + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa == CFA_AT_BP && !load(cursor, cfa, &cfa)) {
        return TMS_RT_UNKNOWN;
    }
    uintptr_t from = rule->bp == BP_AT_CFA ? cfa : bp;
    if (rule->bp != BP_SAME &&
        !load(cursor, from + (uintptr_t)(intptr_t)rule->bp_offset, &cursor->bp)) {
        return TMS_RT_UNKNOWN;
    }
    if (cfa <= cursor->sp || !load(cursor, cfa - sizeof(uintptr_t), &cursor->pc)) {
        return TMS_RT_UNKNOWN;
    }
    *slot = (uintptr_t *)(cfa - sizeof(uintptr_t));
    cursor->sp = cfa;
    return TMS_RT_STEPPED;
}
