"""What rules print is kept out of standard output, in whatever thread they run."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO

import pytest
from waiting import HANGS

from devfix.registry.rule_output import collected_output
from devfix.registry.timeout import within


def test_what_a_rule_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    within(HANGS, lambda: print("said"))
    print("report")
    assert capsys.readouterr() == ("report\n", "said\n")


def test_rules_in_several_threads_leave_standard_output_to_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """While each rule runs, another thread prints: its lines go to standard output."""
    together = threading.Barrier(5, timeout=HANGS)

    def rule() -> None:
        together.wait()
        print("said")
        together.wait()

    with ThreadPoolExecutor(4) as pool:
        for number in range(20):
            calls = [pool.submit(within, HANGS, rule) for _ in range(4)]
            together.wait()
            print(number)
            together.wait()
            for call in calls:
                call.result()
    out, err = capsys.readouterr()
    assert out == "".join(f"{number}\n" for number in range(20))
    assert err == "said\n" * 80


def test_each_thread_collects_the_output_of_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    together = threading.Barrier(4, timeout=HANGS)

    def case(number: int) -> str:
        def rule() -> None:
            together.wait()
            print(number)

        with collected_output() as output:
            within(HANGS, rule)
        return output.getvalue()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(case, range(4))) == ["0\n", "1\n", "2\n", "3\n"]
    assert capsys.readouterr() == ("", "")


def test_a_traceback_is_collected_from_the_rule_on() -> None:
    def rule() -> None:
        raise KeyError("x")

    with collected_output() as output, pytest.raises(KeyError):
        within(HANGS, rule)
    first, place, *_, last = output.getvalue().splitlines()
    assert first == "Traceback (most recent call last):"
    assert place.split()[1] == f'"{__file__}",'
    assert last == "KeyError: 'x'"


def test_standard_output_may_be_exchanged_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    held = StringIO()
    with redirect_stdout(held):
        within(HANGS, lambda: print("said"))
        print("held")
    within(HANGS, lambda: print("again"))
    sys.stdout.write("report\n")
    assert held.getvalue() == "held\n"
    assert capsys.readouterr() == ("report\n", "said\nagain\n")
