/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are atomic blocks (functions.c). */
#ifndef TMS_RUNTIME_FUNCTIONS_H
#define TMS_RUNTIME_FUNCTIONS_H

#include "runtime/core/thread.h"

/* A function of the program. */
struct tms_rt_function {
    uintptr_t address;        /* inside it, where its hook returns to */
    uintptr_t start, end;     /* of its code; 0 to UINTPTR_MAX if unknown */
    _Atomic uint32_t label;   /* nonzero: an atomic block; once 0 it stays 0 */
    uint32_t name;            /* its label, whether it is a block or not */
    uint32_t site;            /* of its begin, independent of the caller */
    bool assumed;             /* atomic by default, not by a rule */
    bool plumbing;            /* part of the standard library, not user code */
    bool called;              /* its calls are recorded while it is not a block */
    bool raced;               /* it made an access that raced */
    bool releases;            /* it released a lock that it had not acquired itself */
    uint32_t runs;            /* executions, up to TMS_RT_RUNS_EXACT, approximately */
    _Atomic uint8_t coverage; /* enum tms_rt_coverage (coverage.h) */
};
#define TMS_RT_RUNS_EXACT 1000u

/*
 * Does each execution start an epoch? Functions that have run rarely or have raced are checked
 * exactly even if threads race (docs/internals/runtime.md). In functions that release locks of
 * their callers the innermost block of an access would be unknown otherwise.
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
/* Is a return address in its code? It may be at the end, if the call is the last instruction. */
static inline bool tms_rt_has_code(const struct tms_rt_function *function, uintptr_t pc)
{
    return function->start < pc && pc <= function->end;
}
/* The bounds of the variable at an address; false if no symbol table has it. */
bool tms_rt_find_data(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* Empties the thread's cache of functions. */
void tms_rt_forget_called(struct tms_rt_thread *thread);
/* Makes the function non-atomic, if it was only assumed to be atomic. */
void tms_rt_function_unfit(struct tms_rt_function *function);
/* … because it is a thread's start function, unless these are blocks, too. */
void tms_rt_function_starts(struct tms_rt_function *function);
/*
 * `functions`: those without a rule are blocks; `threads`: so are the start functions of threads.
 */
bool tms_rt_functions_start(const char *spec, bool functions, bool threads);
/* Does a rule say what is atomic, rather than only what is not? */
bool tms_rt_rules_name_blocks(void);
/* How many functions have these bits of `coverage`. */
uint32_t tms_rt_functions_covered(uint8_t bits);
/* Warns about patterns that matched nothing, and records the modules. */
void tms_rt_functions_finish(void);
bool tms_rt_functions_restart(void);
/* The label of an annotated block; 0: not meant to be atomic. */
uint32_t tms_rt_text_label(struct tms_rt_thread *thread, const char *name);

/* Index of a function in a thread's cache. */
static inline size_t tms_rt_call_hash(uintptr_t address)
{
    return (address >> 4 ^ address >> 13) % TMS_RT_FUNCTION_CACHE;
}

#endif
