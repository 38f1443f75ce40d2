/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program file, as a libFuzzer target: the command reads the ELF headers and the symbols of the
 * program that it is to run. Any contents must be classified, and the same way each time.
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
