"""Every page of this repository's rules: `devfix test rules`, as tests, with the cases of all pages side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import HANGS

from devfix.registry.files import rule_files
from devfix.rule_testing.checking.format import matches_failure
from devfix.rule_testing.checking.page_check import judge
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.checking.writing import format_judgement
from devfix.rule_testing.pages.page import read_page
from devfix.rule_testing.pages.selection import rule_for_page

ROOT = Path(__file__).resolve().parents[2] / "rules"
FILES = rule_files(ROOT)


# The page that is tested daily; the others are tested by `make test-pages` and `make test-all`.
DAILY = {"placement/factory_without_device"}
PAGES = [
    pytest.param(file, id=name, marks=() if name in DAILY else pytest.mark.slow)
    for file in FILES
    for name in [f"{file.parent.name}/{file.stem}"]
]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(Path(sys.executable), HANGS) as bench:
        yield bench


@pytest.mark.slow
@pytest.mark.parametrize("file", PAGES)
def test_the_page_holds(file: Path, bench: Bench) -> None:
    (judgement,) = judge([rule_for_page(file.with_suffix(".md"))], bench)
    assert judgement.passed, "\n" + format_judgement(judgement)


def test_the_daily_pages_are_there() -> None:
    assert {f"{file.parent.name}/{file.stem}" for file in FILES} >= DAILY


WITHOUT_A_GPU = [
    "AssertionError: Torch not compiled with CUDA enabled",
    "AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'",
    "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
    "RuntimeError: No CUDA GPUs are available",
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_page_quotes_no_message_that_only_one_build_of_torch_has(file: Path) -> None:
    for case in read_page(file.with_suffix(".md")).cases:
        failure = case.failure or ""
        if failure.startswith("no-device"):
            first = failure.splitlines()[0]
            assert all(matches_failure(failure, f"{first}\n{message}") for message in WITHOUT_A_GPU), (
                case.name,
                failure,
            )


def test_there_are_rules() -> None:
    assert len(FILES) >= 2
    assert {file.parent.parent for file in FILES} == {ROOT}
