"""Threads that decode the same classes for the first time at the same moment."""

from __future__ import annotations

import subprocess
import sys

import waiting

# As many classes as it takes for msgspec alone to crash in each of ten processes.
PROGRAM = """
import json, sys, threading
from dataclasses import asdict, make_dataclass
import msgspec
from devfix.decoding import convert, decode_json, decode_msgpack

inner = {f"field{number}": {"value": number} for number in range(10)}
texts = json.dumps(inner).encode(), msgspec.msgpack.encode(inner)
kinds = []
for number in range(100):
    fields = [(name, make_dataclass("Inner", [("value", int)])) for name in inner]
    kinds.append(make_dataclass("Outer", fields))
sys.setswitchinterval(1e-6)
ready = threading.Barrier(4)
right = []

def decode(number):
    for kind in kinds:
        ready.wait()
        results = convert(inner, kind), decode_json(texts[0], kind), decode_msgpack(texts[1], kind)
        right.append(all(asdict(each) == inner for each in results))

threads = [threading.Thread(target=decode, args=(number,)) for number in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(len(right), all(right))
"""


def test_threads_may_decode_the_same_classes_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=waiting.HANGS, check=False
    )
    assert (done.returncode, done.stdout) == (0, "400 True\n"), done.stderr
