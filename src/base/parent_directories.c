/* SPDX-License-Identifier: Apache-2.0 */
/* Parent directories; see parent_directories.h. */
#include "base/parent_directories.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool tms_make_parent_directories(const char *path, char failed[PATH_MAX])
{
    if (snprintf(failed, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t i = 1; path[0] != '\0' && path[i] != '\0'; i++) {
        if (path[i] != '/' || path[i + strspn(&path[i], "/")] == '\0') {
            continue; /* also slashes that only end the path */
        }
        failed[i] = '\0';
        if (mkdir(failed, 0777) != 0 && errno != EEXIST) {
            return false;
        }
        failed[i] = '/';
    }
    return true;
}
