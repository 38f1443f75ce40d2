/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that reads return addresses must see those of the program. An exception restores them for
 * good: it is not known here where it will be caught, so all blocks of the thread count as ended. A
 * backtrace gets them temporarily.
 *
 * pthread_exit and cancellation unwind through functions of the C library's own; these reach the
 * personality routine in return_hook.c. dlclose unloads code.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unwind.h>

#include "frames.h"
#include "return_hook.h"
#include "runtime/intercept/interpose.h"

/* The unwinder may have been loaded by dlopen, or not at all. */
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

/* The thread is inside the runtime around the real function, so nothing is hooked meanwhile. */
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
