"""Detect random numbers from generators without a seed, and seed them if the configuration has a seed.

Two runs of such a program differ by chance, and may agree by chance, so comparisons must know it.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from typing import Any

import torch

from . import patching
from .accelerators import kinds, randomness, real_accelerator
from .late_imports import when_imported

_NUMPY = "numpy.random"
_NO_SEED = 2**32  # GPUs draw their initial seeds from 53 bits or more; those of users are smaller

_unseeded: set[str] = set()
_draws: dict[int, bool] = {}
_kept: list[Any] = []  # keeps operators alive, so that their ids are not reused
_seed: int | None = None
_first_seed = 0
_random_state: Any = None
_numpy_state: Any = None


def begin(seed: int | None, is_real: bool) -> None:
    """Record the initial state of this process's generators; with a `seed`, seed each of them."""
    global _seed, _first_seed, _random_state
    _seed = seed
    if seed is not None:
        (torch.manual_seed if is_real else torch.default_generator.manual_seed)(seed)
        random.seed(seed)
    _first_seed = torch.default_generator.initial_seed()
    _random_state = random.getstate()
    os.register_at_fork(after_in_child=_renew)
    if (numpy := sys.modules.get(_NUMPY)) is not None:
        _begin_numpy(numpy)


def renew() -> None:
    """Forget draws from Python's generator, from which what starts a program, as a kernel does, may have drawn."""
    global _random_state
    _random_state = None
    if _seed is not None:
        random.seed(_seed)
    _random_state = random.getstate()


def install() -> None:
    """Replace the functions that seed generators, until the world is left."""
    _watch_random()
    _watch_torch_seed()
    if _NUMPY in sys.modules:
        _watch_numpy(sys.modules[_NUMPY])
    else:
        when_imported(_NUMPY, _begin_late)


def record_draw(result: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Record an operator that draws from a default generator without a seed; called after each."""
    draws = _draws.get(id(func))
    if draws is None:
        draws = _draws[id(func)] = _is_draw(func)
        _kept.append(func)
    if not draws or "torch" in _unseeded:
        return
    values = (*args, *(kwargs or {}).values())
    if any(isinstance(each, torch.Generator) for each in values):
        return
    if torch.default_generator.initial_seed() != _first_seed or _is_seeded_on_device((result, *values)):
        return
    if not _is_loader_without_workers():
        _unseeded.add("torch")


def unseeded_generators() -> list[str]:
    """Return which generators the program has used without a seed: "torch", "random", "numpy"."""
    if _random_state is not None and random.getstate() != _random_state:
        _unseeded.add("random")
    numpy = sys.modules.get(_NUMPY)
    if numpy is not None and _numpy_state is not None and _state_of(numpy) != _numpy_state:
        _unseeded.add("numpy")
    return sorted(_unseeded)


def _is_draw(func: Any) -> bool:
    # Attention has the tag for its dropout, which is rarely enabled.
    return torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()) and "attention" not in str(func)


def _is_seeded_on_device(values: tuple[Any, ...]) -> bool:
    """Return whether the operator draws on a GPU whose generator has been seeded."""
    tensor = next((each for each in values if isinstance(each, torch.Tensor)), None)
    if tensor is None:
        return False
    gpu = getattr(tensor, "_devfix_gpu", -1)
    if 0 <= gpu < len(randomness.defaults):
        return bool(randomness.defaults[gpu].initial_seed() != _first_seed)
    if tensor.device.type != kinds.now().name:
        return False
    generators = real_accelerator.generators()
    index = tensor.device.index or 0
    return index < len(generators) and generators[index].initial_seed() < _NO_SEED


def _is_loader_without_workers() -> bool:
    """Return whether a DataLoader draws the seed of its workers from an unseeded generator."""
    frame = sys._getframe(2)
    for _ in range(16):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(os.path.join("utils", "data", "dataloader.py")):
            return type(frame.f_locals.get("self")).__name__ == "_SingleProcessDataLoaderIter"
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _watch_random() -> None:
    original = random.seed

    @functools.wraps(original)
    def seed(*args: Any, **kwargs: Any) -> Any:
        global _random_state
        unseeded_generators()
        is_none = _is_none(args, kwargs)
        result = original(_seed) if is_none else original(*args, **kwargs)
        _random_state = random.getstate() if is_none else None
        return result

    patching.replace(random, "seed", seed, shared=True)


def _renew() -> None:
    """Accept the state of a forked child's generator: Python reseeds it."""
    global _random_state
    if _random_state is not None:
        _random_state = random.getstate()


def _is_none(args: Any, kwargs: Any) -> bool:
    return all(each is None for each in (*args, *kwargs.values()))


def _watch_torch_seed() -> None:
    original = torch.random.seed

    @functools.wraps(original)
    def seed() -> int:
        global _first_seed
        if _seed is not None:
            torch.manual_seed(_seed)
            return _seed
        number = original()
        _first_seed = torch.default_generator.initial_seed()  # random, as at the start
        return number

    patching.replace(torch, "seed", seed)
    patching.replace(torch.random, "seed", seed)


def _watch_numpy(numpy: Any) -> None:
    seed, default_rng = numpy.seed, numpy.default_rng

    @functools.wraps(seed)
    def seeded(*args: Any, **kwargs: Any) -> Any:
        global _numpy_state
        unseeded_generators()
        is_none = _is_none(args, kwargs)
        result = seed(_seed) if is_none else seed(*args, **kwargs)
        _numpy_state = _state_of(numpy) if is_none else None
        return result

    @functools.wraps(default_rng)
    def generator(*args: Any, **kwargs: Any) -> Any:
        if not _is_none(args, kwargs):
            return default_rng(*args, **kwargs)
        _unseeded.add("numpy")
        return default_rng(_seed)

    patching.replace(numpy, "seed", seeded, shared=True)
    patching.replace(numpy, "default_rng", generator, shared=True)


def _begin_numpy(numpy: Any) -> None:
    """Record the initial state of NumPy's generator; with a seed, seed it."""
    global _numpy_state
    if _seed is not None:
        numpy.seed(_seed)
    _numpy_state = _state_of(numpy)


def _begin_late(numpy: Any) -> None:
    _begin_numpy(numpy)
    _watch_numpy(numpy)


def _state_of(numpy: Any) -> Any:
    name, keys, *rest = numpy.get_state()
    return name, bytes(keys), *rest
