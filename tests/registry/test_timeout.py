"""Other people's code gets so much time and no more."""

import sys
import threading
import time

import pytest
from waiting import HANGS, until

from devfix.errors import RuleError
from devfix.registry.timeout import describe_error, within


def test_what_a_function_returns_or_raises_comes_through() -> None:
    assert within(HANGS, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(HANGS, lambda: {}["x"])  # type: ignore[misc]


def test_a_loop_without_end_is_ended() -> None:
    def loop() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue

    before = set(threading.enumerate())
    with pytest.raises(RuleError, match=r"longer than 0\.2 s"):
        within(0.2, loop)
    until(lambda: set(threading.enumerate()) <= before)


def test_what_hangs_outside_of_python_is_left_behind() -> None:
    let_go = threading.Lock()
    let_go.acquire()
    before = set(threading.enumerate())
    with pytest.raises(RuleError, match="took longer"):
        within(0.2, let_go.acquire)  # it waits in C, where nothing can interrupt it, for what comes below
    assert len(set(threading.enumerate()) - before) == 1
    let_go.release()
    until(lambda: set(threading.enumerate()) <= before)


def test_a_rule_cannot_end_devfix() -> None:
    with pytest.raises(RuleError, match="raised SystemExit"):
        within(HANGS, lambda: sys.exit(3))


def test_an_error_is_told_in_words() -> None:
    assert describe_error(KeyError("x")) == "raised KeyError: 'x'"
    assert describe_error(RuleError("took longer than 1 s")) == "took longer than 1 s"
