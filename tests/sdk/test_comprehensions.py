"""Names that a comprehension or lambda binds: read within it alone, and never by a statement in front."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import World
from devfix.registry import rule_at, rule_files
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import PROGRAM, Case
from devfix.sdk import File, Sources, is_bound

RULES = Path(__file__).resolve().parents[2] / "rules" / "placement"


@pytest.mark.parametrize(
    ("source", "at", "bound", "unbound"),
    [
        ("def f(xs, m):\n    a = [x for x in xs]\n    return [y * m for y in a]\n", "y * m", "xs m a y", "x"),
        ("def f(xs, m):\n    a = {k: v + m for k, v in xs}\n    return m + a\n", "m + a", "xs m a", "k v"),
        ("def f(xs, m):\n    g = lambda z: z + 1\n    return m + g(xs)\n", "m + g(xs)", "xs m g", "z"),
        ("def f(xs, m):\n    return map(lambda z: z * m, xs)\n", "z * m", "xs m z", ""),
        ("xs = []\na = [x for x in xs]\nb = [y for y in a]\n", "[y for y in a]", "xs a", "x y b"),
        ("from lib import *\ndef f():\n    return g() + 1\n", "g() + 1", "given", ""),
        ("def h(t):\n    return [u for u in t]\ndef f(m):\n    return m + 1\n", "m + 1", "m h", "t u"),
    ],
)
def test_a_name_is_bound_where_python_says_so(source: str, at: str, bound: str, unbound: str) -> None:
    file = File("m.py", source.encode())
    node = file.find(file.module, at)[0]
    assert [name for name in f"{bound} {unbound}".split() if is_bound(file, node, f"{name}.device")] == bound.split()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench(Path(sys.executable), timeout=120)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (
            """
            import torch

            def scaled(pred, shape):
                counts = [x.shape[0] for x in pred]
                gain = torch.tensor(shape)
                return counts, [row / gain for row in pred]

            def main():
                place = torch.ones(2, 2)
                if torch.cuda.is_available():
                    place = place.cuda()
                print(scaled([place], [2.0, 4.0])[0])

            main()
            """,
            "device=pred[0].device",
        ),
        (
            """
            import torch

            def scaled(pred, gain):
                counts = [x.shape[0] for x in pred]
                return counts, [row / gain for row in pred]

            place = torch.ones(2, 2)
            if torch.cuda.is_available():
                place = place.cuda()
            print(scaled([place], torch.tensor([2.0, 4.0]))[0])
            """,
            "",
        ),
    ],
)
def test_no_candidate_reads_a_name_of_another_comprehension(source: str, wanted: str, bench: Bench) -> None:
    before = {PROGRAM: dedent(source).encode()}
    world = World("simulated", 1)
    failure = bench.failure(Case("comprehension", 0, world, {}, before, {}, "", None, ()))
    assert failure is not None
    rules = {each.id: each for each in map(rule_at, rule_files(RULES))}
    sources = Sources(before.get)
    patches = list(propose(diagnose(failure, rules.values(), sources), rules, sources))
    assert patches and not sources.notes
    edited = [patch.edits[0].after.decode() for patch in patches]
    assert not [text for text in edited if "x.device" in text.replace("max.device", "")]
    for text in edited[:2]:
        after = {PROGRAM: text.encode()}
        assert bench.failure(Case("after", 0, world, {}, after, {}, "", None, ())) is None, text
    assert wanted in edited[0]
