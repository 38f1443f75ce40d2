/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reads return addresses sees those of the program. An exception puts them back for good:
 * where it will be caught is not known here, so all blocks of the thread count as ended. Who only
 * looks finds them in place, and leaves them hooked as they were.
 *
 * Functions that pthread_exit and cancellation unwind by are the C library's own; those come to
 * the personality routine in return_hook.c. dlclose takes code away.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unwind.h>

#include "frames.h"
#include "return_hook.h"
#include "runtime/intercept/interpose.h"

/* The unwinder may have come in with dlopen, or not at all. */
#define UNWINDER(result, name, parameters)                                                         \
    TMS_RT_REAL_NEXT(result, name, parameters, NULL, (void *)(uintptr_t)abort)

UNWINDER(_Unwind_Reason_Code, _Unwind_RaiseException, (struct _Unwind_Exception *))
TMS_RT_INTERPOSE _Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *exception)
{
    tms_rt_remove_return_hooks();
    return real__Unwind_RaiseException()(exception);
}

UNWINDER(_Unwind_Reason_Code, _Unwind_Resume_or_Rethrow, (struct _Unwind_Exception *))
TMS_RT_INTERPOSE _Unwind_Reason_Code _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *exception)
{
    tms_rt_remove_return_hooks();
    return real__Unwind_Resume_or_Rethrow()(exception);
}

UNWINDER(void, _Unwind_Resume, (struct _Unwind_Exception *))
TMS_RT_INTERPOSE void _Unwind_Resume(struct _Unwind_Exception *exception)
{
    tms_rt_remove_return_hooks();
    real__Unwind_Resume()(exception);
    abort(); /* it does not return */
}

UNWINDER(_Unwind_Reason_Code, _Unwind_ForcedUnwind,
         (struct _Unwind_Exception *, _Unwind_Stop_Fn, void *))
TMS_RT_INTERPOSE _Unwind_Reason_Code _Unwind_ForcedUnwind(struct _Unwind_Exception *exception,
                                                          _Unwind_Stop_Fn stop, void *argument)
{
    tms_rt_remove_return_hooks();
    return real__Unwind_ForcedUnwind()(exception, stop, argument);
}

/* Around the real one the thread is inside the runtime: nothing is hooked meanwhile. */
UNWINDER(_Unwind_Reason_Code, _Unwind_Backtrace, (_Unwind_Trace_Fn, void *))
TMS_RT_INTERPOSE _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn trace, void *argument)
{
    struct tms_rt_thread *thread = tms_rt_enter();

    tms_rt_suspend_return_hooks();
    _Unwind_Reason_Code code = real__Unwind_Backtrace()(trace, argument);
    tms_rt_resume_return_hooks();
    if (thread != NULL) {
        tms_rt_leave(thread);
    }
    return code;
}

TMS_RT_REAL(int, backtrace, (void **, int))
TMS_RT_INTERPOSE int backtrace(void **addresses, int most);
TMS_RT_INTERPOSE int backtrace(void **addresses, int most)
{
    struct tms_rt_thread *thread = tms_rt_enter();

    tms_rt_suspend_return_hooks();
    int count = real_backtrace()(addresses, most);
    tms_rt_resume_return_hooks();
    if (thread != NULL) {
        tms_rt_leave(thread);
    }
    return count;
}

TMS_RT_REAL(int, dlclose, (void *))
TMS_RT_INTERPOSE int dlclose(void *handle)
{
    int result = real_dlclose()(handle);

    tms_rt_forget_frames();
    return result;
}
