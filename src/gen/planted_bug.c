/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts of planted_bug.h. */
#include "gen/planted_bug.h"

#include "tmesis/tmesis.h"

static const struct tms_script_line locked[] = {
    {0, TMS_EVENT_BEGIN},   {0, TMS_EVENT_ACQUIRE}, {0, TMS_EVENT_READ},    {0, TMS_EVENT_RELEASE},
    {1, TMS_EVENT_BEGIN},   {1, TMS_EVENT_ACQUIRE}, {1, TMS_EVENT_READ},    {1, TMS_EVENT_WRITE},
    {1, TMS_EVENT_RELEASE}, {1, TMS_EVENT_END},     {0, TMS_EVENT_ACQUIRE}, {0, TMS_EVENT_WRITE},
    {0, TMS_EVENT_RELEASE}, {0, TMS_EVENT_END},
};

static const struct tms_script_line bare[] = {
    {0, TMS_EVENT_BEGIN}, {0, TMS_EVENT_READ}, {1, TMS_EVENT_BEGIN}, {1, TMS_EVENT_READ},
    {1, TMS_EVENT_WRITE}, {1, TMS_EVENT_END},  {0, TMS_EVENT_WRITE}, {0, TMS_EVENT_END},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct tms_script scripts[] = {
    {.lines = bare, .length = LENGTH(bare), .closing = 6, .locks = 0},
    {.lines = locked, .length = LENGTH(locked), .closing = 10, .locks = 1},
};

const struct tms_script *tms_script(uint64_t locks)
{
    return &scripts[locks >= 2];
}
