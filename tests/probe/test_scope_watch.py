"""The scope at a location that several threads run: which of them it is that counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from devfix.probe.counters import scope_watch


class Placed(torch.Tensor):
    """A tensor that says that it is on another device."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device(self.place)


def placed(device: str) -> Placed:
    tensor = torch.ones(1).as_subclass(Placed)
    tensor.place = device
    return tensor


def run(x: torch.Tensor) -> None:
    assert x is not None
    scope_watch.look()


@pytest.fixture
def watched() -> Iterator[None]:
    line = run.__code__.co_firstlineno + 2
    scope_watch.want(frozenset({(__file__, line)}))
    yield
    scope_watch.reset()
    scope_watch._wanted.clear()


def device_of_x() -> str:
    (found,) = scope_watch.export()
    return next(each["device"] for each in found["scope"] if each["expression"] == "x")


@pytest.mark.parametrize(
    "order", [("cuda:0", "cuda:1"), ("cuda:1", "cuda:0"), ("cuda:1", "cuda:2", "cuda:0", "cuda:3")]
)
def test_of_replicas_the_one_on_the_first_gpu_counts(order: tuple[str, ...], watched: None) -> None:
    for device in order:
        thread = threading.Thread(target=run, args=(placed(device),))
        thread.start()
        thread.join()
    assert device_of_x() == "cuda:0"


def test_in_one_thread_the_last_one_counts(watched: None) -> None:
    for device in ("cuda:0", "cuda:1"):
        run(placed(device))
    assert device_of_x() == "cuda:1"


def test_another_kind_of_device_counts_in_whatever_thread(watched: None) -> None:
    run(placed("cuda:0"))
    thread = threading.Thread(target=run, args=(placed("cpu"),))
    thread.start()
    thread.join()
    assert device_of_x() == "cpu"


class Noise:
    """An object whose class says a device, until `to` says another one."""

    device = torch.device("cpu")

    def reset(self) -> None:
        self.size = 3
        scope_watch.look()


def test_a_device_that_an_object_is_told_later_counts() -> None:
    noise = Noise()
    scope_watch.want(frozenset({(__file__, Noise.reset.__code__.co_firstlineno + 2)}))
    try:
        noise.reset()
        noise.device = torch.device("cuda:0")
        noise.reset()
        (found,) = scope_watch.export()
        assert [each["device"] for each in found["scope"] if each["expression"] == "self.device"] == ["cuda:0"]
    finally:
        scope_watch.reset()
        scope_watch._wanted.clear()
