# SPDX-License-Identifier: Apache-2.0
"""Reports while a program runs take nothing from it: no signal, no descriptor, no thread, and
nothing that waits is interrupted. With --report-on it is the program's own handler that counts."""
import os
import re
import signal
import subprocess
import time

from harm import TMESIS, case, check


def until(condition, what):
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Serving:
    """The program in the background, natively or watched, until the file "done" appears."""

    def __init__(self, bench, program, words, options=None):
        self.bench = bench
        self.name = "native" if options is None else "watched"
        for each in ("ready", "done"):
            if os.path.exists(bench.path(each)):
                os.unlink(bench.path(each))
        command = [program.native] if options is None else [
            TMESIS, "run", "-q", *options, "--", program.watched]
        self.out, self.err = bench.path(self.name + ".out"), bench.path(self.name + ".err")
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([*command, *words], cwd=bench.work, stdout=out,
                                            stderr=err, stdin=subprocess.DEVNULL,
                                            env=bench.environment)
        until(lambda: os.path.exists(bench.path("ready")), "the program to be ready")
        self.program = self.process.pid if options is None else self.child()

    def child(self):
        pid = self.process.pid
        return int(read(f"/proc/{pid}/task/{pid}/children").split()[0])

    def reports(self):
        return read(self.err).count("report on demand")

    def ask(self, pid, number):
        """Sends the signal, and waits for one more report, with the verdict in it."""
        before = self.reports()
        os.kill(pid, number)
        until(lambda: self.reports() > before, f"a report\n{read(self.err)}")
        until(lambda: read(self.err).count("plete:") > before, f"its verdict\n{read(self.err)}")

    def end(self):
        self.bench.write("done", "")
        self.process.wait(timeout=60)
        return read(self.out)


def without_interruptions(text):
    return re.sub(r"interrupted .*\n", "", text)


@case("reports on demand take nothing from the program")
def nothing_taken(bench):
    program = bench.build("serves.c")
    own = str(int(signal.SIGURG))
    native = Serving(bench, program, [own]).end()
    check("interrupted 0\n" * 4 in native, f"the program was interrupted natively\n{native}")
    serving = Serving(bench, program, [own], options=())
    for _ in range(4):
        serving.ask(serving.process.pid, signal.SIGURG)
    watched = serving.end()
    check(native == watched, f"another output than natively\n{native}\n{watched}")
    check(serving.reports() == 4, f"other reports than were asked for\n{read(serving.err)}")


@case("a signal to the command that asks for no report is for the program")
def passed_on(bench):
    program = bench.build("serves.c")
    own = str(int(signal.SIGUSR1))
    outputs = []
    for options in (None, ()):
        serving = Serving(bench, program, [own], options=options)
        os.kill(serving.process.pid, signal.SIGUSR1)
        time.sleep(0.5)
        outputs.append(without_interruptions(serving.end()))
    check(outputs[0] == outputs[1], "another output than natively\n" + "\n".join(outputs))
    check("after 10: own flags 0 handled 1" in outputs[0], outputs[0])
    check(serving.reports() == 0, read(serving.err))


@case("--report-on leaves a program its own handler")
def own_handler(bench):
    program = bench.build("serves.c")
    own = str(int(signal.SIGUSR1))
    outputs = []
    for options in (None, ("--report-on=USR1",)):
        serving = Serving(bench, program, [own], options=options)
        os.kill(serving.program, signal.SIGUSR1)
        time.sleep(0.5)
        outputs.append(without_interruptions(serving.end()))
    check(outputs[0] == outputs[1], "another output than natively\n" + "\n".join(outputs))
    check(serving.reports() == 0, read(serving.err))


@case("--report-on is hidden from the program")
def hidden(bench):
    program = bench.build("serves.c")
    native = Serving(bench, program, []).end()
    serving = Serving(bench, program, [], options=("--report-on=USR1",))
    serving.ask(serving.program, signal.SIGUSR1)
    serving.ask(serving.process.pid, signal.SIGUSR1)
    watched = serving.end()
    check(without_interruptions(native) == without_interruptions(watched),
          f"another output than natively\n{native}\n{watched}")
