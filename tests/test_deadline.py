"""Other people's code gets so much time and no more."""

import sys
import threading
import time

import pytest

from devfix.deadline import raised, within
from devfix.errors import RuleError


def test_what_a_function_returns_or_raises_comes_through() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5, lambda: {}["x"])  # type: ignore[misc]


def test_a_loop_without_end_is_ended() -> None:
    def loop() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue

    before = threading.active_count()
    began = time.monotonic()
    with pytest.raises(RuleError, match=r"longer than 0\.2 s"):
        within(0.2, loop)
    assert time.monotonic() - began < 2
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.02)
    assert threading.active_count() == before


def test_what_hangs_outside_of_python_is_left_behind() -> None:
    began = time.monotonic()
    with pytest.raises(RuleError, match="took longer"):
        within(0.2, lambda: time.sleep(3))
    assert time.monotonic() - began < 2


def test_a_rule_cannot_end_devfix() -> None:
    with pytest.raises(RuleError, match="raised SystemExit"):
        within(5, lambda: sys.exit(3))


def test_an_error_is_told_in_words() -> None:
    assert raised(KeyError("x")) == "raised KeyError: 'x'"
    assert raised(RuleError("took longer than 1 s")) == "took longer than 1 s"
