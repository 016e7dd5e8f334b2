"""Protobuf files as protoc reads them. What a schema here does not know, or has twice, is an error."""
import collections
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

Message = collections.defaultdict


def decode(schema, message, data):
    """A message as protoc reads it: a dict from field name to the list of its values."""
    text = subprocess.run(["protoc", f"--proto_path={HERE}", f"--decode={message}", os.path.join(HERE, schema)], input=data,
                          capture_output=True, check=True).stdout.decode()
    stack = [Message(list)]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = Message(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            if name.isdigit():
                raise ValueError(f"{schema} does not know field {line} of its message")
            stack[-1][name].append(value_of(value))
    return stack[0]


def value_of(text):
    if text.startswith('"'):
        raw = re.sub(rb"\\([0-7]{3}|.)", unescape, text[1:-1].encode())
        return raw.decode("utf-8")
    return {"true": True, "false": False}.get(text) if text in ("true", "false") else int(text)


def unescape(match):
    what = match.group(1)
    if len(what) == 3:
        return bytes([int(what, 8)])
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(what, what)


def one(message, field, default=0):
    values = message[field]
    if len(values) > 1:
        raise ValueError(f"{field} stands {len(values)} times")
    return values[-1] if values else default
