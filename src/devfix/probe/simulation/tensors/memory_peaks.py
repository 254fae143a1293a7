"""Memory of GPUs as it is taken and given back, tracked from the first time that a program asks for what needs it.

That is a peak, a count of allocations, a limit, a pool, or the history. Tracking slows the creation of tensors down, so
it does not start earlier. A storage counts until C++ frees it, which a weak reference to its Python object reports.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from .. import hooks
from ..accelerators import messages
from ..patching import undo_with
from .tensor import Tensor

BLOCK = 512  # bytes: the allocator rounds every size up to a multiple
SMALL = 1 << 20  # bytes: the largest block of the pool of small ones (c10/core/AllocatorConfig.h)
MEDIUM = 10 << 20  # bytes: larger blocks share no segment
SEGMENT = 2 << 20  # bytes: of a segment of small blocks; the others have multiples


@dataclass(frozen=True)
class Block:
    """The memory of a storage that is alive, or of a pointer that the program was given."""

    gpu: int
    address: int
    size: int


class Listener(Protocol):
    """Object in `listeners` that is told of memory."""

    def note_taken(self, block: Block) -> None:
        """Note that memory is taken."""

    def note_given_back(self, block: Block) -> None:
        """Note that memory is given back."""


listeners: list[Listener] = []
limits: dict[int, int] = {}
"""The bytes that a process may take of each GPU."""
totals: dict[tuple[int, bool, bool], list[int]] = {}
"""How many blocks and bytes were taken and given back, by GPU, whether small, and whether taken."""
_held: dict[int, tuple[Any, Block]] = {}  # by storage: weak reference, and its memory
_now: dict[int, int] = {}
most: dict[int, int] = {}


def round_size(size: int) -> int:
    """Return the bytes that the allocator uses for a size.

    A large one gets a segment of its own, which is not split where too little is left (`should_split` in
    c10/cuda/CUDACachingAllocator.cpp).
    """
    used, whole = whole_of(size, BLOCK), whole_of(size, SEGMENT)
    return whole if used >= MEDIUM and whole - used <= SMALL else used


def whole_of(size: int, unit: int) -> int:
    """Return a size rounded up to a multiple of a unit."""
    return -(-size // unit) * unit


def raise_to(gpu: int, figure: int) -> int:
    """Raise the peak of a GPU to a measured figure, and return it."""
    most[gpu] = max(figure, most.get(gpu, 0))
    return most[gpu]


def begin_again(gpu: int) -> None:
    """Reset the peak of a GPU to its current usage."""
    most[gpu] = _now.get(gpu, 0)


def follow(living: Iterable[Any]) -> None:
    """Track every living simulated tensor and all new ones; repeated calls have no effect."""
    if getattr(hooks.on_created, "_devfix_follows", False):
        return
    for tensor in living:
        _note(tensor)
    _listen()


def _listen() -> None:
    on_created, on_moved = hooks.on_created, hooks.moved
    shorter, on_host = hooks.fast_on_created.get(on_created), hooks.fast_on_created_cpu.get(on_created)

    def created(result: Any, func: Any, args: Any, kwargs: Any) -> None:
        on_created(result, func, args, kwargs)
        _note_all(result)

    def moved(result: Any, source: Any, func: Any) -> None:
        on_moved(result, source, func)
        _note_all(result)

    def forget() -> None:
        if hooks.on_created is created:
            hooks.on_created, hooks.moved = on_created, on_moved
        hooks.fast_on_created.pop(created, None)
        hooks.fast_on_created_cpu.pop(created, None)
        for known in (_held, _now, most, limits, totals):
            known.clear()
        listeners.clear()

    created._devfix_follows = True  # type: ignore[attr-defined]
    if shorter is not None:
        hooks.fast_on_created[created] = _deriving(shorter)
    if on_host is not None:
        hooks.fast_on_created_cpu[created] = on_host
    hooks.on_created, hooks.moved = created, moved
    undo_with(forget)


def _deriving(shorter: Any) -> Any:
    def derived(result: Any, func: Any, source: Any) -> None:
        shorter(result, func, source)
        _note(result)

    return derived


def _note_all(result: Any) -> None:
    if isinstance(result, Tensor):
        _note(result)
    elif isinstance(result, (tuple, list)):
        for item in result:
            _note_all(item)


def _note(tensor: Any) -> None:
    gpu = tensor._devfix_gpu
    if gpu < 0:
        return
    try:
        storage = tensor._devfix_held.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return  # sparse
    key = storage._cdata
    if key in _held:
        return

    block = Block(gpu, storage.data_ptr(), storage.nbytes())

    def ended(_: Any) -> None:
        if _held.pop(key, None) is not None:
            give_back(block)

    take(block)
    _held[key] = (weakref.ref(storage, ended), block)


def take(block: Block) -> None:
    """Note that memory is taken. Raises if the process may not take as much."""
    size = round_size(block.size)
    now = _now.get(block.gpu, 0) + size
    if now > limits.get(block.gpu, now):
        raise messages.out_of_memory(f"tried to allocate {block.size} bytes", block.gpu)
    _now[block.gpu] = now
    if now > most.get(block.gpu, 0):
        most[block.gpu] = now
    _count(block, size, taken=True)
    for listener in listeners:
        listener.note_taken(block)


def give_back(block: Block) -> None:
    """Note that memory is given back."""
    size = round_size(block.size)
    _now[block.gpu] = _now.get(block.gpu, 0) - size
    _count(block, size, taken=False)
    for listener in listeners:
        listener.note_given_back(block)


def _count(block: Block, size: int, *, taken: bool) -> None:
    if size:
        total = totals.setdefault((block.gpu, size <= SMALL, taken), [0, 0])
        total[0] += 1
        total[1] += size


def total(gpu: int, pool: str, *, taken: bool) -> tuple[int, int]:
    """Return how many blocks and bytes were taken, or given back, in a pool of a GPU."""
    kinds = {"all": (True, False), "small_pool": (True,), "large_pool": (False,)}[pool]
    found = [totals.get((gpu, kind, taken), (0, 0)) for kind in kinds]
    return sum(each[0] for each in found), sum(each[1] for each in found)
