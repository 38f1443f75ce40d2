/* SPDX-License-Identifier: Apache-2.0 */
/* Shards of a hunt; see shard.h. */
#include "hunt/shard.h"

#include <ctype.h>
#include <stddef.h>

#define COUNT_MOST UINT64_C(1000000)

/*
 * Parses digits up to `end`; returns the position of `end`, NULL if there are no digits or too
 * many.
 */
static const char *read_number(const char *text, char end, uint64_t *number)
{
    const char *at = text;

    for (*number = 0; isdigit((unsigned char)*at) && *number <= COUNT_MOST; at++) {
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    return at > text && *at == end && *number <= COUNT_MOST ? at : NULL;
}

bool tms_shard_parse(const char *text, struct tms_shard *shard)
{
    uint64_t index = 0, count = 0;
    const char *slash = read_number(text, '/', &index);

    if (slash == NULL || read_number(slash + 1, '\0', &count) == NULL || count == 0 ||
        index > count) {
        return false;
    }
    *shard = (struct tms_shard){index % count, count};
    return true;
}
