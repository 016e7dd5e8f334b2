#!/usr/bin/env python3
"""json_fields.py DOCS/json.md FILE...: each FILE (- for standard input) is JSON, or lines of it, whose `format` and `version` have a
section in the page, and every field of it stands there, or in a page that the section points to."""

import json
import pathlib
import re
import sys

# What is named by the data and not by the schema.
FREE = {"qperf-trace-print": {"fields"}, "qperf-trace-sql": {"rows"}, "qperf-sched": {"events", "event_drops", "odd_transitions"}}


def sections(page):
    """By schema: its version and the words that a reader finds about it: those between backticks, and all of another page."""
    found = {}
    text = page.read_text(encoding="utf-8")
    general = text.split("\n## ")[0]
    for part in re.split(r"\n(?=##+ )", text):
        heading, _, body = part.partition("\n")
        for linked in re.findall(r"\(([a-z-]+\.md)", body):
            body += "`%s`" % re.sub(r"[`\s]+", " ", (page.parent / linked).read_text(encoding="utf-8"))
        if heading.startswith("## `qperf trace`") or heading == "## `qperf trace`":
            general += body
        for schema, version in re.findall(r"`(qperf-[a-z-]+)`, version (\d+)", heading):
            found[schema] = int(version), body
    return general, found


def fields(value, free, under=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in free:
                yield from fields(inner, free, key)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, free, under)


def main():
    page = pathlib.Path(sys.argv[1])
    general, known = sections(page)
    failed = 0
    for name in sys.argv[2:]:
        text = sys.stdin.read() if name == "-" else pathlib.Path(name).read_text(encoding="utf-8")
        try:
            values = [json.loads(text)]
        except json.JSONDecodeError:
            values = [json.loads(line) for line in text.splitlines()]
        schema = values[0].get("format"), values[0].get("version")
        version, body = known.get(schema[0], (None, ""))
        if version is None or version != schema[1]:
            print("FAILED: %s has no section for %s, version %s" % (page.name, *schema))
            failed = 1
            continue
        words = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`([^`\n]+)`", general + body))))
        missing = sorted(set(fields(values, FREE.get(schema[0], set()))) - words)
        if missing:
            print("FAILED: %s says nothing of %s of %s" % (page.name, missing, schema[0]))
            failed = 1
        else:
            print("%s %d: every field is described" % schema)
    sys.exit(failed)


main()
