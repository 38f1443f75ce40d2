/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions leave functions without their exit hooks if clang compiled them with
 * -finstrument-functions. When one is thrown, the blocks of inlined functions end, and those of all
 * functions further in: it is not known yet which of them the exception leaves, and a block that
 * seems to continue would be reported for what its caller does. When the exception is caught, the
 * frames further in than that of the handler are gone.
 *
 * A statically linked C++ library brings functions of the same names, which take precedence.
 */
#include <stdlib.h>
#include <unwind.h>

#include "runtime/core/thread.h"
#include "runtime/intercept/exceptions.h"
#include "runtime/intercept/interpose.h"

/* The unwinder and the C++ library may have been loaded by dlopen, or not at all. */
#define UNWINDER(result, name, parameters)                                                         \
    TMS_RT_REAL_NEXT(result, name, parameters, NULL, (void *)(uintptr_t)abort)
#define INTERPOSE(ours) TMS_RT_EXPORT __attribute__((weak, alias(#ours)))

static void leave_inlined(struct tms_rt_thread *thread)
{
    for (const struct tms_rt_frame *frame = thread->frames + 1; frame <= thread->top; frame++) {
        if ((frame->caller & TMS_RT_INLINED) != 0) {
            tms_rt_unwind(thread, frame->frame + 1);
            return;
        }
    }
}

UNWINDER(_Unwind_Reason_Code, _Unwind_RaiseException, (struct _Unwind_Exception *))
static _Unwind_Reason_Code raise_exception(struct _Unwind_Exception *exception)
{
    TMS_RT_REPORT(leave_inlined(thread));
    return real__Unwind_RaiseException()(exception);
}
INTERPOSE(raise_exception)
_Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *exception);

UNWINDER(_Unwind_Reason_Code, _Unwind_Resume_or_Rethrow, (struct _Unwind_Exception *))
static _Unwind_Reason_Code raise_again(struct _Unwind_Exception *exception)
{
    TMS_RT_REPORT(leave_inlined(thread));
    return real__Unwind_Resume_or_Rethrow()(exception);
}
INTERPOSE(raise_again)
_Unwind_Reason_Code _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *exception);

UNWINDER(void *, __cxa_begin_catch, (void *))
static void *begin_catch(void *exception)
{
    uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa();

    TMS_RT_REPORT(tms_rt_unwind(thread, frame));
    return real___cxa_begin_catch()(exception);
}
INTERPOSE(begin_catch) void *__cxa_begin_catch(void *exception);

bool tms_rt_sees_exceptions(void)
{
    return _Unwind_RaiseException == raise_exception && _Unwind_Resume_or_Rethrow == raise_again &&
           __cxa_begin_catch == begin_catch;
}
