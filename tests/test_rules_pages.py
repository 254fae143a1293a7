"""Every page of this repository's rules: `devfix test rules`, as tests, with the cases of all pages side by side."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from devfix.catalog import Rule
from devfix.catalog.loading import rule_files
from devfix.testing.bench import Bench
from devfix.testing.chosen import rule_for_page
from devfix.testing.judging import Judgement, judge
from devfix.testing.writing import judged

ROOT = Path(__file__).resolve().parent.parent / "rules"
FILES = rule_files(ROOT)
SECONDS = 60.0  # for all pages on two cores; tests beside these make it longer


@pytest.fixture(scope="module")
def judgements() -> Iterator[dict[str, Judgement]]:
    rules: list[Rule] = [rule_for_page(file.with_suffix(".md")) for file in FILES]
    began = time.monotonic()
    with Bench(Path(sys.executable)) as bench:
        found = {judgement.rule.id: judgement for judgement in judge(rules, bench)}
    print(f"{len(found)} pages in {time.monotonic() - began:.1f} s (asked: {SECONDS:g} s)")
    yield found


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_page_holds(file: Path, judgements: dict[str, Judgement]) -> None:
    judgement = judgements[f"{file.parent.name.replace('_', '-')}/{file.stem.replace('_', '-')}"]
    assert judgement.passed, "\n" + judged(judgement)


def test_there_are_rules() -> None:
    assert len(FILES) >= 2
    assert {file.parent.parent for file in FILES} == {ROOT}
