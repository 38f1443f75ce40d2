/* SPDX-License-Identifier: Apache-2.0 */
/* The number of elements of an array; for tables that are walked by index. */
#ifndef TMS_BASE_ARRAY_LENGTH_H
#define TMS_BASE_ARRAY_LENGTH_H

#define TMS_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
