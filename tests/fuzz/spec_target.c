/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One specification file, as a libFuzzer target. A refused file gets one message. An accepted one
 * answers for labels of all kinds, the same each time, and its unmatched rules can be listed. The
 * bytes are also used as a label, which they must match as a pattern.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/target.h"
#include "spec/spec.h"

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void load(struct tms_spec *spec, const struct tms_context *context, const uint8_t *data,
                 size_t size)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];

    require(descriptor >= 0);
    require(write(descriptor, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    int code = tms_spec_load(spec, path);
    require(code == TMS_OK || code == TMS_ERR_SYNTAX);
    require(code == TMS_OK || strchr(tms_error(context), '\n') == NULL);
    require(code == TMS_OK || strstr(tms_error(context), path) != NULL);
    close(descriptor);
}

static void ask(struct tms_spec *spec, const char *label)
{
    static const char *const labels[] = {"",
                                         "main",
                                         "Bank::deposit(int) const",
                                         "a/B.main([Ljava/lang/String;)V",
                                         "(anonymous namespace)::C::operator()(int)",
                                         "f[abi:cxx11]()"};

    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        require(tms_spec_ask(spec, labels[i]) == tms_spec_ask(spec, labels[i]));
    }
    tms_spec_ask(spec, label);
    for (size_t i = 0; tms_spec_unmatched(spec, i) != NULL; i++) {
        require(strchr(tms_spec_unmatched(spec, i), '\n') == NULL);
    }
    if (tms_spec_add(spec, true, label) == TMS_OK) {
        require(tms_spec_ask(spec, label) == TMS_SPEC_ATOMIC);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_spec *spec;
    char *label = calloc(size + 1, 1);

    require(context != NULL && label != NULL);
    require(tms_spec_new(context, &spec) == TMS_OK);
    memcpy(label, data, size);
    load(spec, context, data, size);
    ask(spec, label);
    tms_spec_free(spec);
    tms_context_free(context);
    free(label);
    return 0;
}
