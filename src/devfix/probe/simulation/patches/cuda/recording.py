"""Record the operators of captures, by the stream on which each runs, for the replay of their graphs."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ...accelerators import captures, randomness
from ...dispatcher import graph_capture
from ...operator_tables.plans import plan_of
from ...tensors.tensor import Tensor
from ...tensors.unwrapping import tensors_of

# Operators that take memory, and start no kernel.
_ALLOCATING = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
_COPIES = ("aten::copy_", "aten::_to_copy")


class Recording:
    """The operators of one capture, and what they wrote to that was there before."""

    def __init__(self, steps: list[Any]) -> None:
        self.steps = steps
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._made: set[int] = set()
        self._generators = randomness.states()

    def keep(self, func: Any, args: Any, kwargs: Any) -> None:
        """Copy a tensor that an operator is about to write to, if it is older than the capture."""
        if not any(argument.alias_info and argument.alias_info.is_write for argument in func._schema.arguments):
            return
        for tensor in tensors_of(args, kwargs):
            held = tensor if tensor._devfix_held is None else tensor._devfix_held
            if held.layout is not torch.strided:
                continue
            storage = held.untyped_storage()
            address = storage.data_ptr()
            if address and address not in self._made and address not in self._kept:
                self._kept[address] = (storage, storage.clone())

    def add(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Add an operator that has run."""
        if hasattr(func, "_schema") and func._schema.name not in _COPIES:
            args, kwargs = _pytree.tree_map(_fix_number, (args, kwargs))
        self.steps.append((func, args, kwargs, result))
        if hasattr(func, "_schema") and plan_of(func).pure:
            made = (item for item in tensors_of((result,), {}) if item._devfix_held is not None)
            self._made.update(item.data_ptr() for item in made if item._devfix_held.layout is torch.strided)

    def take_back(self) -> None:
        """Restore the copied values, and the generators, whose offsets only a replay moves."""
        for storage, values in self._kept.values():
            storage.copy_(values)
        randomness.restore(self._generators)


def _fix_number(value: Any) -> Any:
    """Return a copy of a number of the host: a kernel is given its value when it is captured."""
    on_host = isinstance(value, Tensor) and value._devfix_gpu < 0 and value.device.type == "cpu"
    return value.detach().clone() if on_host and not value.dim() else value


def _launches(func: Any, result: Any) -> bool:
    """Return whether an operator starts a kernel: no view does, and none without elements."""
    schema = func._schema
    if schema.name.split("::")[-1] in _ALLOCATING:
        return False
    if any(value.alias_info and not value.alias_info.is_write for value in schema.returns):
        return False
    made = tensors_of((result,), {})
    return not made or any(item.numel() for item in made)


class _Recorder(TorchDispatchMode):
    """Hands each operator of a thread to the capture of its stream."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        gpu = graph_capture.gpu_of(args, kwargs)
        stream = None if gpu is None else captures.stream_of(gpu)
        capture = None if stream is None else captures.of(stream)
        recording = None if capture is None else recordings.get(capture)
        if capture is None or recording is None or stream is None:
            return func(*args, **kwargs)
        if not hasattr(func, "_schema"):
            result = func(*args, **kwargs)
            recording.add(func, args, kwargs, result)
            return result
        if capture.invalid:
            raise captures.failure()
        recording.keep(func, args, kwargs)
        result = func(*args, **kwargs)
        recording.add(func, args, kwargs, result)
        if _launches(func, result):
            capture.launch(stream)
        return result


class _ThreadState(threading.local):
    recorder: Any = None
    count = 0


recordings: dict[captures.Capture, Recording] = {}
_thread = _ThreadState()


def begin(capture: captures.Capture, steps: list[Any]) -> None:
    """Record the operators of a capture in this thread from here on."""
    recordings[capture] = Recording(steps)
    graph_capture.begin()
    if not _thread.count:
        _thread.recorder = _Recorder()  # type: ignore[no-untyped-call]
        _thread.recorder.__enter__()
    _thread.count += 1


def end(capture: captures.Capture) -> None:
    """Stop recording a capture, and undo what it did."""
    recording = recordings.pop(capture)
    graph_capture.end()
    if _thread.count:
        _thread.count -= 1
        if not _thread.count:
            _thread.recorder.__exit__(None, None, None)
            _thread.recorder = None
    recording.take_back()
