# SPDX-License-Identifier: Apache-2.0
"""How much stack the runtime's functions can use, computed from their code.

A function's instructions are followed along all branches with the depth of the stack at each; a call
adds what the callee can use, a jump out of the function replaces it. What is called through a pointer
is left out: the program's own functions and the C library's cost the same natively, and what the
runtime itself calls in this way runs on a stack of its own (runtime/core/runtime_stack.c).
"""
import re
import subprocess

# Functions of other libraries that need next to nothing.
SMALL = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "strncmp", "strchr", "strrchr",
         "strchrnul", "strstr", "strcspn", "strspn", "strncpy", "strpbrk", "syscall", "getpid",
         "gettid", "madvise", "nanosleep", "__errno_location", "pthread_self", "abort",
         "pthread_getspecific", "malloc", "__popcountdi2", "mmap", "pthread_once", "fallocate",
         "pthread_setspecific", "malloc_usable_size", "sigfillset", "setsid", "open", "dup2", "close",
         "chdir",
         "__ctype_tolower_loc", "pthread_attr_getdetachstate", "__sigsetjmp",
         "__pthread_register_cancel", "__pthread_unregister_cancel", "__pthread_unwind_next"}

HEAD = re.compile(r"^([0-9a-f]+) <(.+)>:$")
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(?:notrack )?(?:bnd )?(\S+)\s*(.*)$")
RELOCATION = re.compile(r"^\s*[0-9a-f]+: R_X86_64_(\w+)\s+(\S+?)([-+]0x[0-9a-f]+)?$")


class Function:
    def __init__(self, name):
        self.name = name
        self.code = {}  # address: (operation, operands, symbol)
        self.order = []

    def has(self, address):
        return address in self.code


def disassemble(path):
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    functions, at, last = {}, None, None  # by name; static ones that share a name, by both
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            name = head.group(2)
            key = name if name not in functions else f"{name}@{int(head.group(1), 16):x}"
            at = functions[key] = Function(key)
            continue
        relocation = RELOCATION.match(line)
        if relocation and at and last in at.code:
            operation, operands, _ = at.code[last]
            at.code[last] = (operation, operands, relocation.group(2))
            continue
        found = LINE.match(line)
        if found and at:
            last = int(found.group(1), 16)
            at.code[last] = (found.group(2), found.group(3), None)
            at.order.append(last)
    return functions


def immediate(operands):
    found = re.match(r"\$(-?0x[0-9a-f]+|-?\d+),%rsp$", operands)
    return int(found.group(1), 0) if found else None


def step(depth, operation, operands, base):
    """The depth after an instruction; `base` is the depth of %rbp."""
    value = immediate(operands)
    if operation == "push":
        return depth + 8
    if operation == "pop":
        return depth - 8
    if operation == "sub" and value is not None:
        return depth + value
    if operation == "add" and value is not None:
        return depth - value
    if operation == "and" and value is not None:
        return depth - value - 8  # at most
    if operation == "leave":
        return base - 8
    lea = re.match(r"(-?0x[0-9a-f]+|0)?\(%(rsp|rbp)\),%rsp$", operands)
    if operation == "lea" and lea:
        offset = int(lea.group(1) or "0", 0)
        return (depth if lea.group(2) == "rsp" else base) - offset
    if operation == "lea" and operands.endswith("(%r10),%rsp"):
        return 8  # the frame was aligned: back to the return address
    return depth


def calls_of(function, starts):
    """Pairs of a depth and the function called there, and the maximum depth of the function itself."""
    calls, deepest, seen = [], 8, set()
    work = [(function.order[0], 8, 8)]
    following = dict(zip(function.order, function.order[1:]))
    while work:
        at, depth, base = work.pop()
        if at in seen or at not in function.code:
            continue
        seen.add(at)
        operation, operands, symbol = function.code[at]
        if operation == "mov" and operands == "%rsp,%rbp":
            base = depth
        after = step(depth, operation, operands, base)
        deepest = max(deepest, after)
        jumps = operation.startswith(("call", "j")) and "*" not in operands
        target = int(operands.split()[0], 16) if jumps else None
        name = symbol if symbol and not symbol.startswith(".text") else starts.get(target)
        if operation.startswith("call"):
            calls.append((depth, name))
        elif operation.startswith("j") and not symbol and function.has(target):
            work.append((target, after, base))
        elif operation.startswith("j"):
            calls.append((depth - 8, name))
        if operation not in ("jmp", "ret", "ud2", "hlt") and at in following:
            work.append((following[at], after, base))
    return calls, deepest


class Depths:
    def __init__(self, path):
        self.functions = disassemble(path)
        self.starts = {f.order[0]: n for n, f in reversed(self.functions.items()) if f.order}
        self.known = {}
        symbols = subprocess.run(["nm", "-g", "--defined-only", path], check=True,
                                 capture_output=True, text=True).stdout.split("\n")
        names = {line.split()[-1] for line in symbols if re.search(" [TW] ", line)}
        self.entries = {n for n in names if not n.startswith("tms_")}

    def is_real(self, name):
        """A function of the C library, interposed or not."""
        return name in self.entries or name not in self.functions

    def of(self, name, above=()):
        """(bytes with the return address, the way to them); recursion is counted once."""
        if name in self.known:
            return self.known[name]
        if name in above:
            return 0, [name + " again"]
        function = self.functions.get(name)
        if function is None or not function.order:
            return 0, [] if name in SMALL else ["?" + name]
        calls, deepest = calls_of(function, self.starts)
        best, unknown = (deepest, [name]), []
        for depth, callee in calls:
            if callee is None:
                continue
            if self.is_real(callee) and not self.is_real(name):  # already inside, so not reported
                unknown += [] if callee in SMALL or "?" + callee in unknown else ["?" + callee]
                continue
            below, way = self.of(callee, above + (name,))
            unknown += [w for w in way if w.startswith("?") and w not in unknown]
            if depth + below > best[0]:
                best = depth + below, [f"{name}:{depth}"] + [w for w in way if w[0] != "?"]
        self.known[name] = best[0], best[1] + unknown
        return self.known[name]


    def entries_beyond(self, limit):
        """Lines about entries from the program that exceed the limit, or call what may."""
        rows = []
        for name in sorted(self.entries & self.functions.keys()):  # the rest are other names
            size, way = self.of(name)
            unknown = [w[1:] for w in way if w[0] == "?"]
            if size > limit or unknown:
                rows.append(f"{size} {' '.join(w for w in way if w[0] != '?')}" +
                            (" calls " + " ".join(unknown) if unknown else ""))
        return rows


if __name__ == "__main__":
    import sys
    print("\n".join(Depths(sys.argv[1]).entries_beyond(int(sys.argv[2]))))
