#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the other formats against the result that they were made from.

    others.py RESULT.json BASE      BASE.junit, BASE.github, BASE.markdown, BASE.csv and BASE.html

Each is read by a parser that knows nothing of tmesis, and must have the findings of the result.
"""
import csv
import html.parser
import json
import re
import sys
import xml.etree.ElementTree


def load(path):
    """The objects that are shown, and their findings, each with the number of its object."""
    with open(path, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file if line.strip()]
    objects = [o for o in objects if o.get("merged")] or objects
    return objects, [(n, f) for n, o in enumerate(objects) for r in o.get("results", [])
                     for f in r["violations"] if f.get("finding") is None and f.get("same_as") is None]


def troubles(each):
    """What is wrong with a run as a whole."""
    if "error" in each:
        return ["not-read"]
    end, lost = each.get("exit") or {}, each["trace"]["loss"]
    failed = end.get("status") or end.get("signal") or each.get("hunt", {}).get("failed")
    losses = [r["loss"] for r in each["results"] if r["engine"] in ("frontier", "judge")]
    return ["program-failed"] * bool(failed) + ["incomplete"] * bool(lost or any(losses))


def level(finding):
    usual = "note" if finding["evidence"] == "potential" else "warning"
    return finding.get("level", usual)


def fails(finding):
    return (level(finding) != "note" and finding["evidence"] == "observed" and
            finding.get("new", True) and not finding.get("suppressed"))


def shown(finding):
    """What people see without --notes, --potential and --races."""
    return (finding.get("new", True) and not finding.get("suppressed") and
            finding["kind"] != "race" and finding["evidence"] != "potential" and
            level(finding) != "note")


def block(part, finding):
    begin = finding["transaction"].get("begin", {}).get("location")
    label = finding["transaction"]["label"] or ""
    return part, label, None if label else begin


def check_junit(path, findings, wrong):
    root = xml.etree.ElementTree.parse(path).getroot()
    cases = root.findall("testsuite/testcase")
    blocks = {block(p, f) for p, f in findings}
    failing = {block(p, f) for p, f in findings if fails(f)}
    assert [e.get("type") for e in root.findall(".//error")] == wrong
    assert all(e.get("message") for e in root.findall(".//error"))
    for suite in root.findall("testsuite"):
        names = [case.get("name") for case in suite.findall("testcase")]
        assert len(names) == len(set(names)), names
    named = [c for c in cases if c.get("name") != "no finding" and c.find("error") is None]
    assert len(cases) == len(named) + len(wrong) or not (findings and wrong), cases
    assert len(named) == len(blocks), (len(named), blocks)
    assert len(root.findall(".//failure")) == len(failing), failing
    assert len(root.findall(".//skipped")) == len(blocks) - len(failing)
    for what, count in (("tests", len(cases)), ("failures", len(failing)), ("errors", len(wrong)),
                        ("skipped", len(blocks) - len(failing))):
        assert int(root.get(what)) == count
        assert sum(int(s.get(what)) for s in root.findall("testsuite")) == count
    text = "".join(root.itertext())
    assert sorted(re.findall(r"^\w+ (AV-\w+), ", text, re.M)) == sorted(f["id"] for _, f in findings)


def check_github(path, findings, wrong):
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().split("\n")
    assert lines.pop() == ""
    ids = []
    first = [re.fullmatch(r"::warning title=tmesis ([\w-]+)::[^\n\r]+\.", line) for line in lines[:len(wrong)]]
    assert [match and match[1] for match in first] == wrong, lines
    for line in lines[len(wrong):]:
        match = re.fullmatch(r"::(error|warning|notice) ((?:\w+=[^,:]*,)*)title=tmesis (\S+) (AV-\w+)"
                             r"::([^\n\r]+)", line)
        assert match, line
        assert all(re.fullmatch(r"\w+=[^,:]+", p) for p in match[2].split(",")[:-1]), line
        assert not re.search(r"%(?![0-9A-F]{2})", line), line
        ids.append((match[4], match[1].replace("notice", "note")))
    assert sorted(ids) == sorted((f["id"], level(f)) for _, f in findings if shown(f)), ids


def check_markdown(path, findings, wrong):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert len(re.findall(r"^\*\*.*:\*\* (?:The trace|The program|Incomplete: ).*\.$", text, re.M)) == len(wrong), text
    rows = re.findall(r"^\| (?:\*\*)?(\w+)(?:\*\*)? \|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\| \w+ \| "
                      r"(AV-\w+) \|(?: (?:[^|\\\n]|\\.)+ \|)?$", text, re.M)
    wanted = [(level(f), f["id"]) for _, f in findings if shown(f)]
    assert sorted(rows) == sorted(wanted)[:50] or len(rows) == 50, (rows, wanted)
    assert text.count("<details>") == text.count("</details>") == min(len(wanted), 10)
    assert len(text) < 65536


def check_csv(path, findings):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert sorted((r["id"], r["level"], r["evidence"]) for r in rows) == sorted(
        (f["id"], level(f), f["evidence"]) for _, f in findings)
    assert all(None not in row and None not in row.values() for row in rows)
    assert not any(value[:1] in "=+-@" and len(value) > 1 for row in rows for value in row.values()
                   if value)


class Page(html.parser.HTMLParser):
    """The data of an HTML report; nothing else in it may come from the result, but its name."""

    def __init__(self):
        super().__init__()
        self.tags, self.data, self.inside = [], "", False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name in ("src", "href") for name, _ in attrs), (tag, attrs)
        self.inside = tag == "script" and ("id", "data") in attrs

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.data += data if self.inside else ""


def check_html(path, findings, wrong):
    page = Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    assert page.tags == ["html", "head", "meta", "meta", "meta", "title", "style", "body", "header",
                         "h1", "span", "main", "noscript", "p", "script", "script"], page.tags
    data = json.loads(page.data)
    assert sum(len(part["troubles"]) for part in data["parts"]) == len(wrong), data["parts"]
    assert sorted((f["id"], f["level"]) for f in data["findings"]) == sorted(
        (f["id"], level(f)) for _, f in findings)
    for finding in data["findings"]:
        for index, step in enumerate(finding["steps"]):
            assert index < step.get("conflict", len(finding["steps"])) <= len(finding["steps"])


def main(result, base):
    objects, findings = load(result)
    wrong = [trouble for each in objects for trouble in troubles(each)]
    check_junit(f"{base}.junit", findings, wrong)
    check_github(f"{base}.github", findings, wrong)
    check_markdown(f"{base}.markdown", findings, wrong)
    check_csv(f"{base}.csv", findings)
    check_html(f"{base}.html", findings, wrong)


main(*sys.argv[1:])
