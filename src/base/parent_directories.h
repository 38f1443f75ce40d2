/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the directories that a path needs, as mkdir -p does. */
#ifndef TMS_BASE_PARENT_DIRECTORIES_H
#define TMS_BASE_PARENT_DIRECTORIES_H

#include <limits.h>
#include <stdbool.h>

/*
 * Creates the missing parent directories of a path, but not the last component, whether or not a
 * slash follows it. False, with errno set and the directory in `failed`, if one can't be made. A
 * path of PATH_MAX characters or more fails with ENAMETOOLONG.
 */
bool tms_make_parent_directories(const char *path, char failed[PATH_MAX]);

#endif
