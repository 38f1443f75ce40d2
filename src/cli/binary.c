/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into executables; see binary.h. Nothing in them is trusted. */
#include "cli/binary.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOOK                                                                                       \
    "__tsan_func_entry" /* the runtime has it, and every program built with it shows it            \
                         */

struct file {
    const char *bytes;
    size_t size;
    bool privileged; /* set-user-ID or set-group-ID */
    bool gains;      /* … of somebody else, so that it ignores the environment */
};

/* So many bytes from an offset on, NULL: the file has not as many. */
static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
    bool there = offset <= file->size && size <= file->size - offset;

    return there && offset % 8 == 0 ? file->bytes + offset : NULL;
}

/* ---- finding it ------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    for (at = at != NULL ? at : "/bin:/usr/bin"; *at != '\0'; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int written =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "", name);
        if (written > 0 && written < PATH_MAX && is_program(path)) {
            return true;
        }
        at += length;
    }
    return false;
}

static bool map_program(const char *name, struct file *file)
{
    char path[PATH_MAX];
    struct stat status;

    if (strchr(name, '/') == NULL && !find_on_path(name, path)) {
        return false;
    }
    int fd = open(strchr(name, '/') == NULL ? path : name, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                (size_t)status.st_size >= sizeof(Elf64_Ehdr);
    void *map =
        good ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0) {
        close(fd);
    }
    if (map == MAP_FAILED) {
        return false;
    }
    *file = (struct file){
        .bytes = map,
        .size = (size_t)status.st_size,
        .privileged = (status.st_mode & (S_ISUID | S_ISGID)) != 0,
        .gains = ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                 ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()),
    };
    return true;
}

/* ---- looking into it -------------------------------------------------------------------- */

static bool has_interpreter(const struct file *file, const Elf64_Ehdr *elf)
{
    const Elf64_Phdr *segments =
        part(file, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*segments));

    for (unsigned i = 0; segments != NULL && i < elf->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP) {
            return true;
        }
    }
    return false;
}

static bool defines_hook(const struct file *file, const Elf64_Shdr *symbols,
                         const Elf64_Shdr *strings)
{
    const Elf64_Sym *symbol = part(file, symbols->sh_offset, symbols->sh_size);
    bool strings_fit =
        strings->sh_offset <= file->size && strings->sh_size <= file->size - strings->sh_offset;

    for (uint64_t i = 0; symbol != NULL && strings_fit && i < symbols->sh_size / sizeof(*symbol);
         i++) {
        bool name_fits = symbol[i].st_name <= strings->sh_size &&
                         strings->sh_size - symbol[i].st_name >= sizeof(HOOK);
        if (name_fits && symbol[i].st_shndx != SHN_UNDEF &&
            memcmp(file->bytes + strings->sh_offset + symbol[i].st_name, HOOK, sizeof(HOOK)) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_runtime(const struct file *file, const Elf64_Ehdr *elf)
{
    const Elf64_Shdr *sections =
        part(file, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*sections));

    for (unsigned i = 0; sections != NULL && i < elf->e_shnum; i++) {
        if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < elf->e_shnum &&
            defines_hook(file, &sections[i], &sections[sections[i].sh_link])) {
            return true;
        }
    }
    return false;
}

static enum tms_binary kind_of(const struct file *file)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;

    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) {
        return TMS_BINARY_UNKNOWN;
    }
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64) {
        return TMS_BINARY_FOREIGN;
    }
    if (has_runtime(file, elf)) {
        return file->gains ? TMS_BINARY_PRIVILEGED : TMS_BINARY_WATCHED;
    }
    if (file->privileged) {
        return TMS_BINARY_PRIVILEGED;
    }
    return has_interpreter(file, elf) ? TMS_BINARY_PLAIN : TMS_BINARY_STATIC;
}

enum tms_binary tms_binary_kind(const char *name)
{
    struct file file;

    if (!map_program(name, &file)) {
        return TMS_BINARY_UNKNOWN;
    }
    enum tms_binary kind = kind_of(&file);
    munmap((void *)(uintptr_t)file.bytes, file.size);
    return kind;
}
