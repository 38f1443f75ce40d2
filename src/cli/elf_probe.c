/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into executables; see elf_probe.h. Nothing in them is trusted. */
#include "cli/elf_probe.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The runtime has it, and every program built with it shows it. */
#define HOOK "__tsan_func_entry"

/* The dynamic linker of glibc, wherever it is installed. */
#define GLIBC_LOADER "ld-linux-x86-64.so."

struct file {
    const char *bytes;
    size_t size;
    bool privileged; /* set-user-ID or set-group-ID */
    bool gains;      /* … of another user, so that it ignores the environment */
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

bool tms_binary_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/') == NULL) {
        return find_on_path(name, path);
    }
    return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
}

/* Files with capabilities gain privileges as set-user-ID ones do, except for root. */
static bool has_capabilities(int fd)
{
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool map_program(const char *name, struct file *file)
{
    char path[PATH_MAX];
    struct stat status;

    if (!tms_binary_find(name, path)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    void *map =
        good ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    bool capable = fd >= 0 && has_capabilities(fd);
    if (fd >= 0) {
        close(fd);
    }
    if (map == MAP_FAILED) {
        return false;
    }
    *file = (struct file){
        .bytes = map,
        .size = (size_t)status.st_size,
        .privileged = capable || (status.st_mode & (S_ISUID | S_ISGID)) != 0,
        .gains = capable || ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                 ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()),
    };
    return true;
}

/* ---- looking into it -------------------------------------------------------------------- */

static const Elf64_Phdr *loader_of(const struct file *file, const Elf64_Ehdr *elf)
{
    const Elf64_Phdr *segments =
        part(file, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*segments));

    for (unsigned i = 0; segments != NULL && i < elf->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP) {
            return &segments[i];
        }
    }
    return NULL;
}

/* Is the loader at that place of the file glibc's? */
static bool is_glibc(const struct file *file, const Elf64_Phdr *loader)
{
    bool fits = loader->p_offset < file->size && loader->p_filesz <= file->size - loader->p_offset;
    const char *path = fits ? file->bytes + loader->p_offset : "";

    return fits && memmem(path, loader->p_filesz, GLIBC_LOADER, strlen(GLIBC_LOADER)) != NULL;
}

/* What is loaded by the system as it is, without the runtime in it. */
static enum tms_binary kind_of_plain(const struct file *file, const Elf64_Ehdr *elf)
{
    const Elf64_Phdr *loader = loader_of(file, elf);

    if (file->privileged) {
        return TMS_BINARY_PRIVILEGED;
    }
    if (loader == NULL) {
        return TMS_BINARY_STATIC;
    }
    return is_glibc(file, loader) ? TMS_BINARY_PLAIN : TMS_BINARY_OTHER_LIBC;
}

static const Elf64_Shdr *sections_of(const struct file *file)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;

    return part(file, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(Elf64_Shdr));
}

/* The text at an offset of a section of strings; "" if it does not end in it. */
static const char *string_in(const struct file *file, const Elf64_Shdr *strings, uint64_t offset)
{
    bool fits = strings->sh_offset <= file->size &&
                strings->sh_size <= file->size - strings->sh_offset && offset < strings->sh_size;
    const char *text = fits ? file->bytes + strings->sh_offset + offset : "";

    return fits && memchr(text, '\0', strings->sh_size - offset) != NULL ? text : "";
}

/* Asks about every symbol that the dynamic linker sees until the answer is yes. */
static bool any_symbol(const struct file *file, bool ask(const Elf64_Sym *symbol, const char *name))
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;
    const Elf64_Shdr *sections = sections_of(file);

    for (unsigned i = 0; sections != NULL && i < elf->e_shnum; i++) {
        const Elf64_Shdr *table = &sections[i];
        const Elf64_Sym *symbols = table->sh_type == SHT_DYNSYM && table->sh_link < elf->e_shnum
                                       ? part(file, table->sh_offset, table->sh_size)
                                       : NULL;
        for (uint64_t at = 0; symbols != NULL && at < table->sh_size / sizeof(*symbols); at++) {
            if (ask(&symbols[at],
                    string_in(file, &sections[table->sh_link], symbols[at].st_name))) {
                return true;
            }
        }
    }
    return false;
}

static bool is_hook(const Elf64_Sym *symbol, const char *name)
{
    return symbol->st_shndx != SHN_UNDEF && strcmp(name, HOOK) == 0;
}

/* Is the interpreter of a #! line there? Without such a line the shell runs the script. */
static bool has_interpreter(const struct file *file)
{
    char path[PATH_MAX];
    size_t at = 2, length = 0;

    if (file->size < 2 || memcmp(file->bytes, "#!", 2) != 0) {
        return true;
    }
    while (at < file->size && (file->bytes[at] == ' ' || file->bytes[at] == '\t')) {
        at++;
    }
    while (at < file->size && length < sizeof(path) - 1 &&
           memchr(" \t\r\n", file->bytes[at], 4) == NULL) {
        path[length++] = file->bytes[at++];
    }
    path[length] = '\0';
    return access(path, X_OK) == 0;
}

static enum tms_binary kind_of(const struct file *file)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;

    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
        return has_interpreter(file) ? TMS_BINARY_SCRIPT : TMS_BINARY_UNKNOWN;
    }
    if (file->size < sizeof(*elf)) {
        return TMS_BINARY_UNKNOWN;
    }
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64) {
        return TMS_BINARY_FOREIGN;
    }
    if (any_symbol(file, is_hook)) {
        return file->gains ? TMS_BINARY_PRIVILEGED : TMS_BINARY_WATCHED;
    }
    return kind_of_plain(file, elf);
}

/* ---- symbols and debug information ---------------------------------------------------- */

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static bool is_start(const Elf64_Sym *symbol, const char *name)
{
    static const char *const starts[] = {"execl",   "execle",      "execlp",       "execv",
                                         "execve",  "execveat",    "execvp",       "execvpe",
                                         "fexecve", "posix_spawn", "posix_spawnp", "system",
                                         "popen",   "dlopen",      "syscall",      NULL};

    return symbol->st_shndx == SHN_UNDEF && is_among(name, starts);
}

/* Libraries that start no program unless they are asked to, by the first part of their names. */
static bool is_plain_library(const char *name)
{
    static const char *const plain[] = {"libc",      "libm",      "libpthread", "libgcc_s", "librt",
                                        "libstdc++", "libatomic", "libdl",      NULL};
    char stem[32];

    snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(name, "."), name);
    return is_among(stem, plain) || strncmp(name, "ld-linux", 8) == 0;
}

static bool needs_others(const struct file *file)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;
    const Elf64_Shdr *sections = sections_of(file);

    for (unsigned i = 0; sections != NULL && i < elf->e_shnum; i++) {
        const Elf64_Shdr *table = &sections[i];
        const Elf64_Dyn *entries = table->sh_type == SHT_DYNAMIC && table->sh_link < elf->e_shnum
                                       ? part(file, table->sh_offset, table->sh_size)
                                       : NULL;
        for (uint64_t at = 0; entries != NULL && at < table->sh_size / sizeof(*entries); at++) {
            if (entries[at].d_tag == DT_NEEDED &&
                !is_plain_library(
                    string_in(file, &sections[table->sh_link], entries[at].d_un.d_val))) {
                return true;
            }
        }
    }
    return sections == NULL;
}

static bool has_section(const struct file *file, uint32_t type, const char *const *names)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;
    const Elf64_Shdr *sections = sections_of(file);
    bool named = sections != NULL && elf->e_shstrndx < elf->e_shnum;

    for (unsigned i = 0; named && i < elf->e_shnum; i++) {
        const char *name = string_in(file, &sections[elf->e_shstrndx], sections[i].sh_name);
        if (sections[i].sh_type == type && is_among(name, names)) {
            return true;
        }
    }
    return false;
}

void tms_binary_look(const char *name, struct tms_binary_facts *facts)
{
    static const char *const symbols[] = {".symtab", NULL};
    static const char *const lines[] = {".debug_line", ".zdebug_line", ".gnu_debuglink", NULL};
    struct file file;

    *facts = (struct tms_binary_facts){true, true, true};
    if (!map_program(name, &file)) {
        return;
    }
    enum tms_binary kind = kind_of(&file);
    if (kind == TMS_BINARY_WATCHED || kind == TMS_BINARY_PLAIN) {
        facts->symbols = has_section(&file, SHT_SYMTAB, symbols);
        facts->lines = has_section(&file, SHT_PROGBITS, lines);
        facts->starts_others = any_symbol(&file, is_start) || needs_others(&file);
    }
    munmap((void *)(uintptr_t)file.bytes, file.size);
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
