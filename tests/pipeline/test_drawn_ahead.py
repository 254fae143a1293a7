"""Items that are made in the background come in their order, each once, with the error that ended them."""

import threading
import time
from collections.abc import Iterator

import pytest

from devfix.pipeline.searching.drawn_ahead import DrawnAhead


def test_items_drawn_ahead_come_in_their_order_and_each_once() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    drawn = DrawnAhead(numbers())
    assert next(drawn) == 0 and made == [0], "nothing is made before it is asked for"
    drawn.begin(most=20, seconds=60)
    drawn.begin(most=20, seconds=60)
    assert list(drawn) == list(range(1, 100)) and made == list(range(100))


def test_the_background_stops_at_its_limit_of_items_and_when_it_is_ended() -> None:
    made: list[int] = []
    go = threading.Event()

    def numbers() -> Iterator[int]:
        for number in range(1_000_000):
            made.append(number)
            go.set()
            time.sleep(0.001)
            yield number

    limited = DrawnAhead(iter(range(10)))
    limited.begin(most=3, seconds=60)
    limited._thread.join()  # type: ignore[union-attr]
    assert len(limited._drawn) == 3
    ended = DrawnAhead(numbers())
    ended.begin(most=1_000_000, seconds=600)
    go.wait(60)
    ended.end()
    count = len(made)
    time.sleep(0.05)
    assert len(made) == count < 1_000_000


def test_an_error_is_raised_after_the_items_before_it() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    drawn = DrawnAhead(broken())
    drawn.begin(most=10, seconds=60)
    drawn._thread.join()  # type: ignore[union-attr]
    assert next(drawn) == 1
    with pytest.raises(ZeroDivisionError):
        next(drawn)
