#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A result with N findings like the worst one of RESULT.json: many.py RESULT.json N >MANY.json."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    result = json.loads(file.readline())
judged = [r for r in result["results"] if r["engine"] == "judge"]
worst = max((f for r in judged for f in r["violations"]),
            key=lambda f: ["note", "warning", "error"].index(f["level"]))
judged[0]["violations"] = [dict(worst, id=f"AV-{n:06x}", block={"label": f"block{n}"},
                                transaction=dict(worst["transaction"], label=f"block{n}"))
                           for n in range(int(sys.argv[2]))]
result["results"] = judged[:1]
json.dump(result, sys.stdout)
