/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are atomic blocks (functions.c). */
#ifndef TMS_RUNTIME_FUNCTIONS_H
#define TMS_RUNTIME_FUNCTIONS_H

#include "runtime/core/thread.h"

/* What is known of a function. */
struct tms_rt_function {
    uintptr_t address;      /* inside it, where its hook returns to */
    uintptr_t start, end;   /* of its code; everywhere if that is not known */
    _Atomic uint32_t label; /* if it is an atomic block, 0 if not; then it never will be */
    uint32_t name;          /* its label, in any case */
    uint32_t site;          /* of its begin, wherever it was called from */
    bool assumed;           /* by default, not by a rule */
    bool plumbing;          /* of the standard library: not what the programmer means */
    bool called;            /* when it is no block, a recording has calls of it */
    bool raced;             /* it made an access that raced */
    bool releases;          /* it has released what it had not acquired itself */
    uint32_t runs;          /* up to TMS_RT_RUNS_EXACT, roughly */
    _Atomic uint8_t cover;  /* enum tms_rt_cover (coverage.h) */
};
#define TMS_RT_RUNS_EXACT 1000u

/*
 * Does each execution start an epoch? Functions that have run seldom, or raced, are exact even
 * where threads race (docs/internals/runtime.md); and for those that release what others acquired
 * the innermost block of an access would be unknown.
 */
static inline bool tms_rt_starts_epoch(struct tms_rt_function *function)
{
    if (function->runs < TMS_RT_RUNS_EXACT) {
        function->runs++;
        return true;
    }
    return function->raced | function->releases | tms_rt_mode.exact_races;
}
struct tms_rt_function *tms_rt_function(uintptr_t address);
/* Is a return address in its code? A call may be the last instruction. */
static inline bool tms_rt_has_code(const struct tms_rt_function *function, uintptr_t pc)
{
    return function->start < pc && pc <= function->end;
}
/* The variable at an address, as the symbol table has it; false if it does not. */
bool tms_rt_find_data(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* The thread has called nothing so far. */
void tms_rt_forget_called(struct tms_rt_thread *thread);
/* From now on it is not atomic, if that was only assumed. */
void tms_rt_function_unfit(struct tms_rt_function *function);
/* … because a thread was started with it, unless such functions are meant as well. */
void tms_rt_function_starts(struct tms_rt_function *function);
/* `functions` are blocks without a rule; `threads`: also those that threads are started with. */
bool tms_rt_functions_start(const char *spec, bool functions, bool threads);
/* Does a rule say what is atomic, and not only what is not? */
bool tms_rt_rules_name_blocks(void);
/* How many functions have these bits of `cover`. */
uint32_t tms_rt_functions_covered(uint8_t bits);
/* Patterns that matched nothing are warned about, and modules written down. */
void tms_rt_functions_finish(void);
bool tms_rt_functions_restart(void);
/* The label of an annotation; 0: it is not meant to be atomic. */
uint32_t tms_rt_text_label(struct tms_rt_thread *thread, const char *name);

/* Where a thread keeps what it knows of a function. */
static inline size_t tms_rt_call_hash(uintptr_t address)
{
    return (address >> 4 ^ address >> 13) % TMS_RT_FUNCTION_CACHE;
}

#endif
