#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every document from results in which one member is missing, null or empty.

    mutilate.py TMESIS RESULT.json…

One finding of each kind and evidence is taken, alone, and each of its members at any depth,
and each member of the object around it, is removed, set to null and, if it is a list, emptied. A
result that can't be read is refused with status 2 and a sentence; all others become documents.
"""
import copy
import json
import subprocess
import sys

FORMATS = ["text", "sarif", "junit", "github", "markdown", "csv", "html", "perfetto"]
OTHERS = ["counters", "windows", "stack"] # members whose own members are left alone
SHOW_ALL = ["--notes", "--potential", "--races", "--verbose"]


def examples(paths):
    """Objects with one finding each, no two of the same kind and evidence."""
    seen = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            objects = [json.loads(line) for line in file if line.strip()]
        for each in objects:
            for result in each.pop("results", []):
                for finding in result.pop("violations"):
                    key = finding["kind"], finding["evidence"]
                    if key not in seen and finding.get("same_as") is None:
                        seen.add(key)
                        finding.pop("finding", None)
                        yield {**each, "results": [{**result, "violations": [finding]}]}


def members(value, path=()):
    """The paths of all members; of a list, those of its first element."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from members(inner, (*path, key)) if key not in OTHERS else ()
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from members(value[0], (*path, 0))


def mutilated(whole, path):
    for replacement in (None, [], KeyError):
        made = copy.deepcopy(whole)
        at = made
        for key in path[:-1]:
            at = at[key]
        if replacement is KeyError:
            del at[path[-1]]
        elif replacement is None or isinstance(at[path[-1]], list):
            at[path[-1]] = replacement
        else:
            continue
        yield json.dumps(made)


def report(tmesis, form, text):
    return subprocess.run([tmesis, "report", f"--format={form}", *SHOW_ALL, "-"], input=text, text=True,
                          capture_output=True, check=False)


def main(tmesis, *paths):
    good, refused = [], 0
    for number, whole in enumerate(examples(paths)):
        for path in members(whole):
            if number > 0 and "violations" not in path:
                continue
            for text in mutilated(whole, path):
                done = report(tmesis, "csv", text)
                assert done.returncode in (0, 2), (path, done.returncode, done.stderr, text)
                assert done.returncode == 0 or done.stderr.startswith("tmesis"), (path, done.stderr)
                refused += done.returncode
                if done.returncode == 0:
                    good.append(text)
    for form in FORMATS:
        done = report(tmesis, form, "\n".join(good))
        assert done.returncode == 0 and done.stderr == "", (form, done.returncode, done.stderr[-3000:])
    print(f"{len(good)} results without a member were shown, {refused // 2} refused")
    assert good and refused


main(*sys.argv[1:])
