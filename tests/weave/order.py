# SPDX-License-Identifier: Apache-2.0
"""Happens-before of a trace in STD text by sets of events, and every race in it: a definition to compare
with, as slow as it is short. docs/research/engines/fasttrack.md has the rules."""
import collections
import re

ACQUIRES = ("acquire", "acq_rel", "seq_cst")
RELEASES = ("release", "acq_rel", "seq_cst")

# `order` is the memory order of an atomic access, or None.
Event = collections.namedtuple("Event", "thread kind operand order place")
# Numbers of the two events, from 0 on.
Race = collections.namedtuple("Race", "first second")

LINE = re.compile(r"([^|]*)\|(\w+)(?:\((.*)\))?\|(.*)")


def played_order(kind, turn):
    """Of an access in a prepared trace at its turn, as director.c makes it; None: a plain one."""
    if kind == "u":
        return "relaxed" if turn % 4 == 0 else "acq_rel"
    order = {"r": "acquire", "w": "release"}.get(kind) if turn % 3 == 0 else None
    return "relaxed" if order and turn % 6 == 0 else order


def parse(text, played=False):
    """The events of STD text; `played`: of a prepared trace, as the director plays them."""
    events = []
    for line in text.splitlines():
        found = LINE.fullmatch(line)
        if line.startswith("#") or found is None:
            continue
        thread, kind, operand, place = found.groups()
        operand, _, order = (operand or "").partition(",")
        if kind == "u" and not played:
            order = "acq_rel"
        if played:
            order = played_order(kind, len(events) + 1)
        if kind in ("ar", "aw", "au"):
            kind = kind[1:]
        events.append(Event(thread, kind, operand, order or None, place.rsplit(":")[-1]))
    return events


class Order:
    """Which events happen before each event of a trace, as bits of a number."""

    def __init__(self, events):
        self.events = events
        self.before = []
        self.known = collections.defaultdict(int)     # by thread
        self.fenced = collections.defaultdict(int)    # what its last release fence published
        self.loaded = collections.defaultdict(int)    # what its next acquire fence adds
        self.exclusive = collections.defaultdict(int)  # by lock, what its releases published
        self.shared = collections.defaultdict(int)
        self.crossed = collections.defaultdict(int)   # by barrier
        self.stored = collections.defaultdict(int)    # by atomic variable
        for number, event in enumerate(events):
            self.come_after(event)
            self.before.append(self.known[event.thread])
            self.known[event.thread] |= 1 << number
            self.publish(event)

    def come_after(self, event):
        thread, what = event.thread, event.operand
        if event.kind in ("acq", "racq"):
            self.known[thread] |= self.exclusive[what]
        if event.kind == "acq":
            self.known[thread] |= self.shared[what]
        elif event.kind == "depart":
            self.known[thread] |= self.crossed[what]
        elif event.kind == "join":
            self.known[thread] |= self.known[what]
        elif event.kind == "fence" and what in ACQUIRES:
            self.known[thread] |= self.loaded[thread]
        elif event.kind in ("r", "u") and event.order in ACQUIRES:
            self.known[thread] |= self.stored[what]
        elif event.kind in ("r", "u") and event.order is not None:
            self.loaded[thread] |= self.stored[what]

    def publish(self, event):
        known, what = self.known[event.thread], event.operand
        if event.kind == "rel":
            self.exclusive[what] |= known
        elif event.kind == "rrel":
            self.shared[what] |= known
        elif event.kind == "arrive":
            self.crossed[what] |= known
        elif event.kind == "fork":
            self.known[what] |= known
        elif event.kind == "fence" and what in RELEASES:
            self.fenced[event.thread] = known
        elif event.kind in ("w", "u") and event.order is not None:
            old = self.stored[what] if event.kind == "u" else 0
            new = known if event.order in RELEASES else self.fenced[event.thread]
            self.stored[what] = old | new
        elif event.kind in ("alloc", "free"):
            for name in [name for name in self.stored if is_part(name, what)]:
                del self.stored[name]

    def races(self):
        """Every pair of conflicting accesses, not both atomic, that nothing orders."""
        accesses = collections.defaultdict(list)
        for second, event in enumerate(self.events):
            if event.kind in ("alloc", "free"):
                for name in [name for name in accesses if is_part(name, event.operand)]:
                    del accesses[name]
            if event.kind not in ("r", "w", "u"):
                continue
            for first in accesses[event.operand]:
                if self.conflict(first, second) and not self.before[second] >> first & 1:
                    yield Race(first, second)
            accesses[event.operand].append(second)

    def conflict(self, first, second):
        one, two = self.events[first], self.events[second]
        return ((one.kind != "r" or two.kind != "r") and one.thread != two.thread and
                (one.order is None or two.order is None))

    def latest(self, numbers):
        """The maximal ones among some events: none of the others comes after them."""
        return [one for one in numbers if not any(self.before[two] >> one & 1 for two in numbers)]


def is_part(variable, whole):
    """Is it the object itself, or a member or an element of it?"""
    return variable.startswith(whole) and variable[len(whole):len(whole) + 1] in ("", ".", "[")


def race_free(text):
    """A prepared trace without its races: the second access of each is to memory of its thread."""
    while True:
        race = next(Order(parse(text, played=True)).races(), None)
        if race is None:
            return text
        lines = text.splitlines()
        at = [i for i, line in enumerate(lines) if not line.startswith("#")][race.second]
        thread, access, place = lines[at].split("|")
        lines[at] = f"{thread}|{access.split('(')[0]}(own{thread})|{place}"
        text = "\n".join(lines) + "\n"
