#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a file of the Trace Event Format against what a viewer needs, and against its source.

    timeline.py findings RESULT.json FILE     made by tmesis report --format=perfetto
    timeline.py trace TRACE.std FILE          made by tmesis convert
    timeline.py slices FILE                   only what every such file must keep to

Slices of a track must nest, every B needs its E, arrows need both ends inside slices, and every
track a name. The steps of findings must be the interleavings of the result; the slices of a trace
must be its events.
"""
import collections
import json
import sys

from sarif import interleaving, shown


def slices(events):
    """(track, start, end, event) of each slice; asserts that B and E are balanced."""
    found, opened = [], collections.defaultdict(list)
    for event in events:
        track = event["pid"], event.get("tid")
        if event["ph"] == "X":
            found.append((track, event["ts"], event["ts"] + event["dur"], event))
        elif event["ph"] == "B":
            opened[track].append(event)
        elif event["ph"] == "E":
            begin = opened[track].pop()
            found.append((track, begin["ts"], event["ts"], begin))
    assert not any(opened.values()), "a B without E"
    return found


def nested(found):
    """Asserts that slices of one track are inside each other or apart."""
    tracks = collections.defaultdict(list)
    for track, start, end, _ in found:
        assert end > start
        tracks[track].append((start, -end))
    for track, spans in tracks.items():
        around = []
        for start, minus_end in sorted(spans):
            while around and around[-1] <= start:
                around.pop()
            assert not around or -minus_end <= around[-1], (track, start, -minus_end)
            around.append(-minus_end)


def arrows(events, found):
    """The pairs of slices that arrows join, each the innermost one at its end."""
    spans = collections.defaultdict(list)
    for track, start, end, event in found:
        spans[track].append((start, end, event))
    ends = collections.defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            assert event["ph"] not in ends[event["id"]], "an arrow with two such ends"
            around = [s for s in spans[event["pid"], event["tid"]] if s[0] <= event["ts"] < s[1]]
            assert around, ("an arrow in no slice", event)
            ends[event["id"]][event["ph"]] = max(around, key=lambda s: (s[0], -s[1]))
    assert all(len(pair) == 2 for pair in ends.values()), "an arrow with one end"
    assert all(pair["s"][0] < pair["f"][0] for pair in ends.values()), "an arrow back in time"
    return [(pair["s"][2], pair["f"][2]) for pair in ends.values()]


def load(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    events = document["traceEvents"]
    assert "not a time" in document["otherData"]["clock"]
    found = slices(events)
    nested(found)
    named = {(e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name"}
    assert {track for track, *_ in found} <= named, "a track without a name"
    asynchronous = collections.Counter()
    for event in events:
        asynchronous[event.get("id"), event["ph"]] += event["ph"] in "be"
    for (name, phase), times in asynchronous.items():
        assert phase not in "be" or times == asynchronous[name, "e" if phase == "b" else "b"] == 1
    return document, events, found, arrows(events, found)


def check_findings(result_path, path):
    _, events, found, joined = load(path)
    findings = collections.defaultdict(list)
    for finding in shown(result_path):
        findings[finding["id"]].append(finding)
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
              if e.get("name") == "thread_name"}
    heads = {track[0]: event for track, _, _, event in found if event["cat"] == "finding"}
    assert len(heads) == sum(map(len, findings.values())), (len(heads), dict(findings))
    for pid, head in sorted(heads.items()):
        finding = findings[head["args"]["id"]].pop(0)
        expected = interleaving(finding)
        steps = sorted((start, event["args"]["event"], tracks[track], event["name"])
                       for track, start, _, event in found
                       if track[0] == pid and event["cat"] == "step")
        # Where a block begins is there as well, unless it is itself one of the events.
        walked = [(event, thread) for _, event, thread, name in steps
                  if (event, thread) in expected or not name.startswith("begin")]
        assert walked == expected, (finding["id"], walked, expected)
    assert all(one["pid"] == two["pid"] and one["cat"] == two["cat"] == "step"
               for one, two in joined)
    print(f"{len(heads)} findings, {len(joined)} arrows")


def check_trace(trace, path):
    document, _, found, _ = load(path)
    with open(trace, encoding="utf-8") as file:
        lines = [line.split("|") for line in file.read().splitlines()]
    assert document["otherData"]["events"] == len(lines)
    threads = [event for track, _, _, event in found if track[0] == 1]
    ends = sum(line[1].split("(")[0] in ("end", "exit", "return") for line in lines)
    numbers = sorted(event["args"]["event"] for event in threads)
    assert len(numbers) == len(set(numbers)) == len(lines) - ends, (len(numbers), len(lines), ends)
    for event in threads:
        operation = lines[event["args"]["event"] - 1][1]
        operand = operation.partition("(")[2][:-1].split(",")[0]
        assert operand in event["name"] or operand == event["args"].get("order"), (operation, event)
    print(f"{len(numbers)} slices of {len(lines)} events")


if __name__ == "__main__":
    {"findings": check_findings, "trace": check_trace, "slices": load}[sys.argv[1]](*sys.argv[2:])
