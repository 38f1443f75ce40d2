#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares SARIF files with the parts of the specification that they use, and with the results.

    sarif.py (RESULT.json FILE.sarif)…

The schema below has what SARIF 2.1.0 requires of the objects that tmesis writes, and allows no
other members; sarif-schema, beside this file, compares with the official one. The ids must be those of
the result, and the steps of all thread flows, walked in their execution order, must be the interleaving
that the result has.
"""
import json
import sys

import jsonschema

TEXT = {"type": "string", "minLength": 1}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": TEXT},
           "additionalProperties": False}
COUNT = {"type": "integer", "minimum": 0}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}


def thing(required, **properties):
    return {"type": "object", "required": required, "properties": properties,
            "additionalProperties": False}


def listing(items, least=0):
    return {"type": "array", "items": items, "minItems": least}


ARTIFACT = thing(["uri"], uri={"type": "string", "pattern": "^[!-~]+$"}, uriBaseId=TEXT)
REGION = thing(["startLine"], startLine={"type": "integer", "minimum": 1},
               endLine={"type": "integer", "minimum": 1}, snippet=MESSAGE)
PHYSICAL = thing(["artifactLocation"], artifactLocation=ARTIFACT, region=REGION)
LOGICAL = thing(["fullyQualifiedName"], fullyQualifiedName={"type": "string"}, kind=TEXT)
LOCATION = thing([], physicalLocation=PHYSICAL, logicalLocations=listing(LOGICAL, 1),
                 message=MESSAGE)
PLACED = {**LOCATION, "required": ["physicalLocation"]}  # GitHub refuses others
STACK = thing(["frames"], frames=listing(thing(["location"], location=LOCATION)))
STEP = thing(["location", "executionOrder"], location=PLACED, stack=STACK, properties=BAG,
             kinds=listing(TEXT, 1), importance={"enum": ["important", "essential", "unimportant"]},
             executionOrder={"type": "integer", "minimum": 0})
FLOW = thing(["threadFlows"], message=MESSAGE, threadFlows=listing(
    thing(["locations"], id={"type": "string"}, locations=listing(STEP, 1)), 1))
RULE = thing(["id"], id=TEXT, name=TEXT, shortDescription=MESSAGE, fullDescription=MESSAGE,
             help=MESSAGE, defaultConfiguration=thing([], level=LEVEL), properties=BAG)
RESULT = thing(["message", "ruleId", "locations"], ruleId=TEXT, ruleIndex=COUNT, kind={"const": "fail"},
               level=LEVEL, message=MESSAGE, locations=listing(PLACED, 1),
               partialFingerprints={"type": "object", "additionalProperties": TEXT},
               occurrenceCount={"type": "integer", "minimum": 1}, codeFlows=listing(FLOW, 1),
               baselineState={"enum": ["new", "unchanged"]}, properties=BAG,
               suppressions=listing(thing(["kind"], kind={"enum": ["inSource", "external"]},
                                          justification=TEXT)))
NOTIFICATION = thing(["message"], message=MESSAGE, level=LEVEL)
INVOCATION = thing(["executionSuccessful"], executionSuccessful={"type": "boolean"},
                   commandLine=TEXT, machine=TEXT, startTimeUtc=TEXT, endTimeUtc=TEXT,
                   exitCode={"type": "integer"}, exitSignalName=TEXT, exitSignalNumber=COUNT,
                   toolExecutionNotifications=listing(NOTIFICATION, 1))
DRIVER = thing(["name"], name=TEXT, version=TEXT, semanticVersion=TEXT, shortDescription=MESSAGE,
               rules=listing(RULE))
RUN = thing(["tool", "results"], tool=thing(["driver"], driver=DRIVER),
            invocations=listing(INVOCATION), results=listing(RESULT), columnKind=TEXT,
            originalUriBaseIds={"type": "object", "additionalProperties": thing(
                [], description=MESSAGE)})
LOG = {"type": "object", "required": ["version", "runs"], "additionalProperties": False,
       "properties": {"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": listing(RUN, 1)}}


def shown(path):
    with open(path, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file if line.strip()]
    merged = [o for o in objects if o.get("merged")]
    return [f for o in merged or objects for r in o.get("results", [])
            for f in r["violations"] if f.get("finding") is None and f.get("same_as") is None]


def interleaving(finding):
    """Events of a finding in their order, as the result has them."""
    if "own" in finding:
        given_up = (finding["lock"] or {}).get("given_up")
        turns = finding["own"][:-1] + ([given_up] if given_up else [])
        turns += finding["foreign"] + finding["own"][-1:]
        events = [(t["event"], t["thread"]) for t in turns]
        return [e for i, e in enumerate(events) if i == 0 or e != events[i - 1]]
    if finding.get("schedule") and finding["kind"] != "race":
        return [(t["event"], t["thread"]) for t in finding["schedule"]]
    ends = set()
    for step in finding["cycle"] or []:
        ends.add((step["first_event"], step["from"]["thread"]))
        ends.add((step["second_event"], step["to"]["thread"]))
    return sorted(ends)


def walked(result):
    """The same as a viewer of the SARIF file finds it."""
    steps = [(step["executionOrder"], step["properties"]["event"], flow["id"], step["kinds"])
             for code in result.get("codeFlows", []) for flow in code["threadFlows"]
             for step in flow["locations"]]
    orders = sorted(s[0] for s in steps)
    assert orders == list(range(1, len(steps) + 1)), orders
    return [(event, thread, kinds) for _, event, thread, kinds in sorted(steps)]


def compare(result_path, sarif_path):
    with open(sarif_path, encoding="utf-8") as file:
        log = json.load(file)
    jsonschema.Draft7Validator(LOG).validate(log)
    assert len(log["runs"]) == 1
    run = log["runs"][0]
    findings = shown(result_path)
    by_id = {}
    for finding in findings:
        by_id.setdefault(finding["id"], []).append(finding)
    ids = [r["partialFingerprints"]["tmesis/v1"] for r in run["results"]]
    assert sorted(ids) == sorted(f["id"] for f in findings), (ids, list(by_id))
    for result in run["results"]:
        finding = by_id[result["partialFingerprints"]["tmesis/v1"]].pop(0)
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert "pattern" not in finding or rule["id"] == finding["pattern"]
        assert "level" not in finding or result["level"] == finding["level"]
        assert bool(result["suppressions"]) == finding.get("suppressed", False)
        state = {True: "new", False: "unchanged", None: None}[finding.get("new")]
        assert result.get("baselineState") == state, result
        expected = interleaving(finding)
        # Where a block begins is there as well, unless it is itself one of the events.
        steps = [(e, t) for e, t, kinds in walked(result) if (e, t) in expected or
                 kinds != ["enter"]]
        assert steps == expected, (finding["id"], steps, expected)
    print(f"{len(ids)} findings in {sarif_path}")


if __name__ == "__main__":
    assert len(sys.argv) > 2, "nothing to compare"
    for each_result, each_sarif in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        compare(each_result, each_sarif)
