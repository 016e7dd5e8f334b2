#!/usr/bin/env python3
"""html_shares.py PAGE.html DIFF.json: both sides of each function in the page's data, as shares, against those of `qperf diff --json`."""

import base64
import json
import re
import sys


def column(text):
    values, last, value, shift = [], 0, 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            last += value >> 1 if value % 2 == 0 else -(value + 1 >> 1)
            values.append(last)
            value, shift = 0, 0
    return values


def shares(data, self_weights):
    """By function: its own share and that of stacks with it anywhere, in percent."""
    names, parents, frames = data["frames"]["names"], column(data["tree"]["parents"]), column(data["tree"]["frames"])
    total = list(self_weights)
    for node in range(len(parents) - 1, 0, -1):
        total[parents[node]] += total[node]
    own, with_callees = {}, {}
    above = [set() for _ in parents]
    for node in range(1, len(parents)):
        name = names[frames[node]]
        above[node] = above[parents[node]] | {name}
        own[name] = own.get(name, 0) + self_weights[node]
        if name not in above[parents[node]]:
            with_callees[name] = with_callees.get(name, 0) + total[node]
    return {name: (100 * own[name] / total[0], 100 * with_callees[name] / total[0]) for name in own}


def main():
    with open(sys.argv[1], encoding="utf-8") as page, open(sys.argv[2], encoding="utf-8") as table:
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read(), re.DOTALL).group(1))
        functions = json.load(table)["functions"]
    nodes = len(column(data["tree"]["parents"]))
    now = [0] * nodes
    for node, weight in zip(column(data["samples"]["nodes"]), column(data["samples"]["weights"])):
        now[node] += weight
    sides = {"before": shares(data, column(data["base"]["weights"])), "after": shares(data, now)}
    worst = 0
    for function in functions:
        for side, seen in sides.items():
            own, total = seen.get(function["function"], (0, 0))
            worst = max(worst, abs(own - function["self_" + side]), abs(total - function["total_" + side]))
    # The table has three decimals, the page whole nanoseconds.
    print("%d functions, %s" % (len(functions), "the shares agree" if worst < 0.002 else "shares are off by up to %.3f" % worst))


main()
