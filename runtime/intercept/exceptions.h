/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are left by an exception, where no hook says so. */
#ifndef TMS_RUNTIME_EXCEPTIONS_H
#define TMS_RUNTIME_EXCEPTIONS_H

#include <stdbool.h>

/* Is every exception of the program known? Not if the C++ library is linked statically. */
bool tms_rt_sees_exceptions(void);

#endif
