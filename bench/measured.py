# SPDX-License-Identifier: Apache-2.0
"""Measurements as CSV: what bench/engines, bench/growth and bench/plot share.

`tmesis check --csv` writes them; its manual page describes the columns.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

NEEDED = {"trace", "events", "threads", "variables", "engine", "verdict", "seconds", "remark"}


class BadInput(Exception):
    """A sentence for the user."""


def read(path):
    """The rows of a CSV file, as dictionaries."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = set(reader.fieldnames or ())
            rows = list(reader)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: expected CSV as tmesis check --csv writes it: {error}") from None
    missing = sorted(NEEDED - columns)
    if missing:
        raise BadInput(f"{path}: expected CSV as tmesis check --csv writes it, but there is no "
                       f"column {missing[0]}")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BadInput(f"{path}: row {number} has another number of columns than the header")
    return rows


def write_text(path, text):
    """Writes the whole file or none."""
    directory, name = os.path.split(os.path.abspath(path))
    temporary = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=directory, prefix=f".{name}.", delete=False,
                                         encoding="utf-8", newline="") as file:
            temporary = file.name
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise BadInput(f"{path}: can't be written: {error.strerror}") from None


def write(path, rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def check_output(path, inputs):
    """Raises BadInput, before the work is done, if the file can't be written or is an input."""
    directory = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(directory, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: can't be written: expected a file in a directory that you may "
                       "write to")
    for one in inputs:
        if os.path.exists(path) and os.path.exists(one) and os.path.samefile(path, one):
            raise BadInput(f"{path} is also an input; write to another file")


def check(tmesis, path, options, limit):
    """The rows of one trace; None, after a sentence, if that took longer than `limit` seconds.

    One core, so that engines do not wander between caches.
    """
    core = str(max(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as directory:
        result = os.path.join(directory, "rows.csv")
        words = ["taskset", "-c", core, tmesis, "check", "-q", "--no-progress", f"--csv={result}",
                 *options, "--", path]
        try:
            done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, errors="replace", timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            print(f"bench: {path}: left out, for it took more than {limit:g} s; try fewer engines "
                  "(--engine) or a smaller BENCH_TIMEOUT", file=sys.stderr)
            return None
        if done.returncode not in (0, 1, 2, 3) or not os.path.exists(result):
            raise BadInput(done.stderr.strip().removeprefix("tmesis: ") or
                           f"{path}: tmesis ended with status {done.returncode}")
        return read(result)


def late(row):
    """Was the engine stopped before it found anything?"""
    return row["verdict"] == "incomplete" and row["remark"].startswith("timeout")


def seconds(row):
    """None: the engine did not see the whole trace, so its time is meaningless."""
    try:
        return None if row["verdict"] == "incomplete" else float(row["seconds"])
    except ValueError:
        raise BadInput(f"{row['trace']}: expected a number in column seconds, found "
                       f"\"{row['seconds']}\"") from None
