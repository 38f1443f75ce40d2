/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program file, in the shape libFuzzer wants: the command looks into the ELF headers and the
 * symbols of what it is to run. Whatever they say, it is of some kind, and of the same kind each
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/elf_probe.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    enum tms_binary kind = tms_binary_kind(path);
    if (kind > TMS_BINARY_UNKNOWN || kind != tms_binary_kind(path)) {
        abort();
    }
    close(descriptor);
    return 0;
}
