#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A result like that of a large program, made of bank's: crowd.py BANK.json NOTES >CROWD.json.

One error that was observed and one that was predicted, two warnings in one block, and NOTES notes
in ten blocks, about fields of heap blocks with long names, in a source with a long path.
"""
import json
import sys

NAMES = [("account.balance", "heap:nni_aio_expire_queue_alloc:nni_aio_expire_queue#240.a_expire"),
         ("account.lock", "heap:nni_aio_expire_queue_alloc:nni_aio_expire_queue#209.eq_mtx.mtx"),
         ('"object": "account"', '"object": "heap:nni_aio_expire_queue_alloc"'),
         ("examples/bank/buggy.c", "src/supplemental/websocket/transport/platform/posix/stream.c"),
         ('"T3"', '"nng:task#10 of the pool"')]

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.readline()
for short, long in NAMES:
    text = text.replace(short, long)
result = json.loads(text)
judged = [r for r in result["results"] if r["engine"] == "judge"]
error, note = (next(f for f in judged[0]["violations"] if f["level"] == level)
               for level in ("error", "note"))
count = 0


def like(finding, label, **changes):
    global count
    count += 1
    return dict(finding, id=f"AV-{count:06x}", transaction=dict(finding["transaction"], label=label),
                block=dict(finding["block"], label=label), **changes)


def locks(key):
    """The steps of a prediction: critical sections, not accesses."""
    return [dict(step, kind="acq", on=NAMES[1][1]) for step in error[key]]


judged[0]["violations"] = (
    [like(error, "inproc_send"), like(error, "inproc_recv", evidence="predicted", cut=0, own=locks("own"),
                               foreign=locks("foreign"))] +
    [like(error, "ns::Queue<int, std::allocator<int> >::put(int)", level="warning")
     for _ in range(2)] +
    [like(note, f"block{n % 10}") for n in range(int(sys.argv[2]))])
result["results"] = judged[:1]
json.dump(result, sys.stdout)
