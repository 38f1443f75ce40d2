# SPDX-License-Identifier: Apache-2.0
"""What the cases in this directory share: a registry of cases, and a bench to run one on.

A case is a function in a file cases_*.py:

    @case("descriptors are closed and reused")
    def reused(bench):
        program = bench.build("descriptors.c")
        bench.compare(program, "closefrom", setup=write_a_large_file)

It fails by an exception (`check` raises one with a text), and is skipped by `raise Skip(reason)`.
A case with `compilers=True` (the default) runs once per compiler, any other once. Each run has a
bench of its own, with an empty directory and an empty TMPDIR that must be empty again at the end.
Several cases run at a time. A program that several of them need is compiled by the first; each case
gets a copy of its own.
"""
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "../.."))
TMESIS = os.path.abspath(os.environ.get("TMESIS", os.path.join(TOP, "build/tmesis")))
BUILD = os.path.dirname(TMESIS)
GOLDEN = os.path.join(TOP, "tests/golden")
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
CPLUSPLUS = {"gcc": "g++", "clang": "clang++"}
FLAGS = ["-g", "-O1", "-D_GNU_SOURCE", "-pthread", "-I" + os.path.join(TOP, "include")]
SECONDS = 60

CASES = []
COMPILED = None  # `run` sets it: the directory of programs that cases share


class Skip(Exception):
    """This machine lacks what the case needs; the text says what."""


class Case:
    def __init__(self, name, function, compilers):
        self.name, self.function, self.compilers = name, function, compilers


def case(name, compilers=True):
    def register(function):
        CASES.append(Case(name, function, compilers))
        return function
    return register


def check(condition, text):
    if not condition:
        raise AssertionError(text)


class Done:
    """A command that has ended. `status` is as in a shell: 128 and the number after a signal."""

    def __init__(self, words, process, out, err):
        self.words, self.out, self.err = words, out, err
        code = process.returncode
        self.status = 128 - code if code < 0 else code
        self.flat = " ".join(err.split())  # standard error without its line breaks

    def __str__(self):
        return (f"$ {' '.join(map(str, self.words))}\nstatus {self.status}\n--- out\n{self.out}\n"
                f"--- err\n{self.err}")

    def expect(self, status=None, says=None, silent_about=None):
        """Fails, with the whole output, unless the command ended with this status and output."""
        check(status is None or self.status == status, f"status {status} expected\n{self}")
        check(says is None or says in self.flat, f"expected to hear: {says}\n{self}")
        check(silent_about is None or silent_about not in self.flat,
              f"not expected to hear: {silent_about}\n{self}")
        return self


class Program:
    """One source, built twice."""

    def __init__(self, native, watched):
        self.native, self.watched = native, watched


def snapshot(directory):
    """Every file below a directory with its contents."""
    found = {}
    for at, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(at, name)
            key = os.path.relpath(path, directory)
            if os.path.islink(path) or not os.path.isfile(path):
                found[key] = "special"
            else:
                with open(path, "rb") as file:
                    found[key] = file.read()
    return found


class Bench:
    def __init__(self, directory, compiler):
        self.directory, self.compiler = directory, compiler
        self.tmp = os.path.join(directory, "tmp")
        self.programs = os.path.join(directory, "programs")
        self.work = os.path.join(directory, "work")  # where commands run
        for path in (self.tmp, self.programs, self.work):
            os.mkdir(path)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TMESIS")}
        self.environment["TMPDIR"] = self.tmp

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run(self, *words, cwd=None, env=None, timeout=SECONDS, **options):
        """Runs any command in the bench's directory and waits for it; `env` adds variables."""
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(words, cwd=cwd or self.work, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True,
                                   env=dict(self.environment, **(env or {})), **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"still running after {timeout} s\n"
                                 f"{Done(words, process, out, err)}") from None
        return Done(words, process, out, err)

    def tmesis(self, *words, **options):
        return self.run(TMESIS, *words, **options)

    def compile(self, output, *words, env=None):
        """Runs a compiler to make OUTPUT, unless another case has had the same words compiled."""
        key = hashlib.sha256(repr((words, env)).encode()).hexdigest()
        kept = os.path.join(COMPILED, key)
        with open(kept + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(kept):
                self.run(*words, "-o", kept + ".new", env=env, timeout=120).expect(0)
                os.rename(kept + ".new", kept)
        shutil.copy(kept, output)
        return output

    def build(self, source, *flags):
        """Builds programs/SOURCE as the compiler does and as `tmesis cc` does."""
        name, extension = os.path.splitext(source)
        path = os.path.join(HERE, "programs", source)
        plus = extension == ".cpp"
        native = os.path.join(self.programs, name + ".native")
        watched = os.path.join(self.programs, name)
        compiler = self.compiler or "gcc"
        environment = {"TMESIS_CC": compiler, "TMESIS_CXX": CPLUSPLUS[compiler]}
        own = CPLUSPLUS[compiler] if plus else compiler
        self.compile(native, own, *FLAGS, path, *flags)
        self.compile(watched, TMESIS, "c++" if plus else "cc", *FLAGS, path, *flags,
                     env=environment)
        return Program(native, watched)

    def watch(self, program, *words, options=(), **settings):
        """`tmesis run` of the watched program; `.results` has a JSON object per process."""
        report = os.path.join(self.directory, "report.json")
        if os.path.exists(report):
            os.unlink(report)
        done = self.tmesis("run", "--json=" + report, *options, "--", program.watched, *words,
                           **settings)
        done.results = []
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                everything = [json.loads(line) for line in file]
                done.results = [r for r in everything if not r.get("merged")]
        return done

    def compare(self, program, *words, setup=None, options=("--exit-code=0",), **settings):
        """
        Runs the program natively and watched, each in a directory that `setup` prepared, and fails
        if output, exit status or files differ. Returns the watched run.
        """
        done, files = [], []
        for kind in ("native", "watched"):
            shutil.rmtree(self.work)
            os.mkdir(self.work)
            if setup:
                setup(self)
            if kind == "native":
                done.append(self.run(program.native, *words, **settings))
            else:
                done.append(self.watch(program, *words, options=options, **settings))
            files.append(snapshot(self.work))
        native, watched = done
        check(native.out == watched.out, f"another output than natively\n{native}\n{watched}")
        check(native.status == watched.status or (native.status, watched.status) == (0, 3),
              f"another status than natively\n{native}\n{watched}")
        check(files[0] == files[1], "files differ: " + ", ".join(sorted(
            k for k in files[0].keys() | files[1].keys() if files[0].get(k) != files[1].get(k))) +
            f"\n{watched}")
        return watched

    def left_behind(self):
        """What is still in TMPDIR."""
        return sorted(os.listdir(self.tmp))
