/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that an exception leaves without their exit hooks. */
#ifndef TMS_RUNTIME_EXCEPTIONS_H
#define TMS_RUNTIME_EXCEPTIONS_H

#include <stdbool.h>

/* Are all exceptions of the program intercepted? Not if the C++ library is linked statically. */
bool tms_rt_sees_exceptions(void);

#endif
