"""Snapshot and restore global torch state between tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from ..capture import failure
from ..lift import boundaries
from ..lift.findings import blame, handled, marks, silent, stale
from ..lift.inputs import begun_calls, first_methods, mixtures
from ..simulation.accelerators import devices, randomness, real_accelerator
from ..simulation.patches.accelerators import memory
from . import bootstrap
from .test_runners import raised_by

State = dict[str, Any]
_SEED = 67280421310721  # the default seed of PyTorch


def state() -> State:
    """Return what tests change: default dtype and device, this thread's current GPU, each GPU's random state."""
    state: State = {"dtype": torch.get_default_dtype(), "device": _default_device()}
    if devices.count():
        state["current"] = devices.current()
        state.update((f"stream {gpu}", one.get_state()) for gpu, one in enumerate(randomness.defaults))
    elif real_accelerator.is_in_use():
        state["current"] = real_accelerator.current()
        state.update((f"stream {gpu}", one.get_state()) for gpu, one in enumerate(real_accelerator.generators()))
    return state


def changed_parts(before: State, after: State) -> State:
    """Return the parts of `before` that differ in `after`."""
    return {part: value for part, value in before.items() if part in after and not _same(value, after[part])}


def restore(state: State, current: int) -> None:
    """Restore a state. GPUs that it does not contain are reset, and `current` becomes the current one.

    Other threads get GPU 0 again, and the memory figures are reset.
    """
    if torch.get_default_dtype() is not state["dtype"]:
        torch.set_default_dtype(state["dtype"])
    if _default_device() != state["device"]:
        torch.set_default_device(state["device"])
    simulated = devices.count() > 0
    if simulated:
        devices.forget_threads()
        devices.make_current(state.get("current", current))
        memory.forget()
    elif real_accelerator.is_in_use():
        real_accelerator.make_current(state.get("current", current))
        real_accelerator.forget_peaks()
    else:
        return
    for gpu, stream in enumerate(randomness.defaults if simulated else real_accelerator.generators()):
        if f"stream {gpu}" in state:
            stream.set_state(state[f"stream {gpu}"])
        else:
            stream.manual_seed(_SEED)


def begin_test() -> None:
    """Record failures again at locations that have failed often in other tests."""
    bootstrap.forget_repeats()
    boundaries.forget()
    first_methods.forget()
    silent.take()
    handled.take()


def failed_test(exception: BaseException) -> dict[str, Any] | None:
    """Return the trace of the failure that caused a test's exception; None if it is unrelated to devices.

    The probe's own frames are removed from the tracebacks of the exception.
    """
    exception = raised_by(exception)
    failure.strip(exception)
    return bootstrap.trace_of(exception)


def judge_failure(trace: dict[str, Any], exception: BaseException | None) -> tuple[str, str]:
    """Return whether the failure of a lifted test's trace is a "finding" or an "artefact" of the lift, and why."""
    return blame.blame(trace["failure"], exception)


def silent_findings() -> list[dict[str, Any]]:
    """Return and forget what the current test has shown without failing."""
    return silent.take()


def handled_failures(exceptions: Sequence[BaseException]) -> Iterator[tuple[BaseException, dict[str, Any]]]:
    """Yield and forget the failures of the code under test that the current test has not ended by, with their traces.

    `exceptions` are what ended it, and its subtests. In a strict run each is the exception as it was raised, else one
    with its marks alone.
    """
    ended = {number for exception in exceptions for number in handled.numbers(exception)}
    for each in handled.take():
        trace = None if ended & handled.numbers(each) else bootstrap.trace_of(each)
        if trace is not None and blame.blame(trace["failure"], each)[0] == blame.FINDING:
            yield each, trace


def fails_by(trace: dict[str, Any]) -> bool:
    """Return whether a test fails by a failure that was caught, as its trace has it."""
    return silent.is_strict() and handled.fails(trace["failure"])


def is_strict() -> bool:
    """Return whether a test fails by what it shows without failing otherwise."""
    return silent.is_strict()


def was_told_gpu(exception: BaseException | None) -> bool:
    """Return whether a test failed by a tensor that was to be made on a GPU, by the `device` that a call got."""
    return marks.was_told_gpu(exception)


def leaves_devices_out() -> bool:
    """Return whether the current test leaves a `device` out of calls that have made tensors of the host."""
    return boundaries.leaves_devices_out()


def served_location(exception: BaseException | None) -> dict[str, Any] | None:
    """Return where the tensor was made by which a cache has failed a test; None where it failed otherwise."""
    return marks.served_location(exception)


def warms_up() -> bool:
    """Return whether each test is to run on another GPU first."""
    return stale.is_wanted()


def aim(is_warm_up: bool) -> None:
    """Let a test's tensors lie on the GPU of a warm-up, or on that of all others."""
    stale.aim(is_warm_up)


def warm_up_call() -> AbstractContextManager[None]:
    """Return the context in which a test's own function runs in a warm-up."""
    return stale.calls()


def heard_calls() -> AbstractContextManager[None]:
    """Return the context in which the calls of a test are heard as they begin, if anything listens."""
    return begun_calls.heard()


def smoothed_count() -> int:
    """Return how many operators of test code were run again with their tensors on one device."""
    return mixtures.Smoothed.count


def is_lifted() -> bool:
    """Return whether this process lifts what test code creates."""
    return bootstrap.is_lifted()


def _default_device() -> torch.device | None:
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return None if context is None else context.device


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return bool(one == other)
