/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks; see html_stacks.h. */
#include "report/html_stacks.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "report/json_write.h"
#include "report/stack_frames.h"

size_t tms_html_stack_number(struct tms_html_stacks *stacks, const struct tms_page *page,
                             uint32_t stack)
{
    const char *text = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);

    if (stack == 0 || *text == '\0') {
        return 0;
    }
    uint64_t hash = XXH3_64bits(text, strlen(text));
    struct tms_hash_walk walk;
    for (uint32_t row = tms_hash_first(&stacks->table, hash, &walk); row != 0;
         row = tms_hash_next(&walk)) {
        if (strcmp(stacks->list[row - 1].text, text) == 0) {
            return row;
        }
    }
    if (!TMS_RESERVE(&stacks->memory, &stacks->list, &stacks->capacity, stacks->count + 1, 64) ||
        !tms_hashtable_add(&stacks->table, &stacks->memory, hash, (uint32_t)stacks->count + 1)) {
        stacks->failed = true;
        return 0;
    }
    stacks->list[stacks->count++] = (struct tms_html_stack){page, text};
    return stacks->count;
}

static void write_stack(const struct tms_html_stack *stack, FILE *out)
{
    const char *at = stack->text;
    struct tms_stack_frame frame;

    for (size_t i = 0; tms_stack_next(&at, &frame); i++) {
        size_t length = frame.file.length;
        const char *path = tms_exported_path(stack->page, frame.file.at, &length);
        unsigned line = frame.line.length > 0 ? (unsigned)strtoul(frame.line.at, NULL, 10) : 0;

        fprintf(out, "%s{\"file\": ", i > 0 ? ", " : "");
        tms_json_string(path, line != 0 ? length : 0, tms_json_to_stream, out);
        fprintf(out, ", \"line\": %u, \"function\": ", line);
        tms_json_string(frame.function.at, frame.function.length, tms_json_to_stream, out);
        fputc('}', out);
    }
}

void tms_html_stacks_write(const struct tms_html_stacks *stacks, FILE *out)
{
    fputs("[[]", out);
    for (size_t i = 0; i < stacks->count; i++) {
        fputs(",\n[", out);
        write_stack(&stacks->list[i], out);
        fputc(']', out);
    }
    fputc(']', out);
}

void tms_html_stacks_free(struct tms_html_stacks *stacks)
{
    tms_hashtable_clear(&stacks->table, &stacks->memory);
    tms_release(&stacks->memory, stacks->list, stacks->capacity, sizeof(*stacks->list));
}
