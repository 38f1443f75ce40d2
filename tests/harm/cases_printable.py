# SPDX-License-Identifier: Apache-2.0
"""Names and paths are untrusted bytes: none of them reaches a terminal or breaks JSON."""
import json
import os
import re

from harm import HERE, TMESIS, case, check

# ESC, CSI as one byte and as UTF-8, BEL, DEL, a change of direction
BYTES = b"\x1b[31m\x9b31m\xc2\x9b31m\x07\x7f\xe2\x80\xae"
HIGH = b"\x9b31m\xc2\x9b31m\xe2\x80\xae"  # those that STD takes in a name
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]")


def hostile_trace(name=HIGH):
    lines = [b"T1" + name + b"|begin(m" + name + b")|1" + name, b"T1" + name + b"|w(V" + name + b")",
             b"T2|begin(n" + name + b")", b"T2|w(V" + name + b")", b"T2|acq(l" + name + b")",
             b"T2|rel(l" + name + b")", b"T2|end", b"T1" + name + b"|w(V" + name + b")",
             b"T1" + name + b"|end"]
    return b"\n".join(lines) + b"\n"


def printed(bench, *words):
    """Runs the command; what it printed, as bytes."""
    bench.run("sh", "-c", 'exec "$0" "$@" >printed 2>&1', TMESIS, *words,
              env={"TMESIS_FORMAT": "std"})
    with open(bench.path("printed"), "rb") as file:
        return file.read()


def looks_clean(bench, *words):
    text = printed(bench, *words)
    check(text, f"{words} printed nothing")
    bad = CONTROL.search(text)
    check(bad is None, f"{words} printed {bad and bad.group()!r} in {text!r}")
    text.decode("utf-8")


@case("bytes of a trace are made printable", compilers=False)
def trace_bytes(bench):
    with open(bench.path("t.std"), "wb") as file:
        file.write(hostile_trace())
    with open(bench.path("bad.std"), "wb") as file:
        file.write(b"T1|nonsense" + BYTES + b"(x)\n")
    with open(bench.path("held.std"), "wb") as file:
        file.write(b"T1|rel(l" + BYTES + b")\n")
    for words in (["check", "t.std"], ["check", "--all", "--engine=all", "t.std"],
                  ["check", "--table", "t.std"], ["check", "--json", "t.std"],
                  ["info", "--all", "t.std"], ["info", "--json", "t.std"], ["refine", "t.std"],
                  ["refine", "--atomic=m\x1b\u009b*", "t.std"], ["check", "bad.std"],
                  ["check", "--lenient", "bad.std"], ["info", "held.std"], ["check", "held.std"],
                  ["convert", "bad.std", "x.tms"]):
        looks_clean(bench, *words)


@case("bytes of a file name, an option and a command are made printable", compilers=False)
def path_bytes(bench):
    name = "t\x1b[31m\n\t\u009b\u202e"
    with open(bench.path(name), "wb") as file:
        file.write(hostile_trace(b""))
    missing = "no" + name
    for words in (["check", name], ["check", missing], ["info", name], ["info", missing],
                  ["refine", name], ["refine", missing], ["refine", "-o", missing + "/x", name],
                  ["convert", name, missing + "/x.std"], ["gen", "-o", name + ".std"],
                  ["gen", "-o", missing + "/x.std"], ["run", missing], ["run", "./" + name],
                  ["record", "-o", missing + "/x", "true"], [name], ["check", "--" + name],
                  ["check", "--engine=" + name, "x"], ["check", "--max-violations=" + name, "x"],
                  ["check", "--spec=" + missing, name], ["check", "--atomic=" + name, name],
                  ["check", "--json=" + missing + "/x", name]):
        looks_clean(bench, *words)


@case("a path with a tab and a line end leaves JSON valid")
def path_in_json(bench):
    folder = bench.path("a\tb\nc")
    os.mkdir(folder)
    with open(os.path.join(HERE, "programs", "lost_update.c"), encoding="utf-8") as file:
        text = file.read()
    source = os.path.join(folder, "lost\tupdate.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program = os.path.join(folder, "lost")
    bench.tmesis("cc", "-g", "-O1", "-pthread", source, "-o", program,
                 env={"TMESIS_CC": bench.compiler}).expect(0)
    bench.tmesis("run", "--strict", "--json=x.json", program).expect(66)
    with open(bench.path("x.json"), encoding="utf-8") as file:
        result = json.loads(file.readline(), strict=True)
    text = json.dumps(result)
    check("lost" in text and '"line"' in text, "the place of the violation is missing: " + text)
    frames = [frame for finding in result["results"][0]["violations"] for step in finding["cycle"]
              for frame in step["first"].get("stack", [])]
    check(frames and all(isinstance(f.get("line", 1), int) for f in frames), f"stacks: {frames}")
