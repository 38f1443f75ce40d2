/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One response file of a compiler (@FILE), as a libFuzzer target. It is split into words, and each
 * is prepared for linking; the result is never longer than the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cc_step.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    struct tms_words all = {0}, linking = {0};
    struct tms_cc_step step = {0};
    char word[32];
    const char *const words[] = {word};
    size_t length = 0;

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(word, sizeof(word), "@/proc/self/fd/%d", descriptor);
    tms_cc_step_read(&step, words, 1, &all);
    for (size_t i = 0; i < all.count; i++) {
        length += strlen(all.text[i]) + 1;
        tms_cc_step_add_for_link(all.text[i], &linking);
    }
    if (length > size + 1 || linking.count > all.count) {
        abort();
    }
    tms_words_free(&all);
    tms_words_free(&linking);
    close(descriptor);
    return 0;
}
