"""`torch.cuda`: devices, availability, properties, synchronization, random state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
import torch.cuda._utils as utilities

from ... import devices, graph_capture, hooks, randomness
from ...patching import replace, wrap
from ...visible_devices import uuid

GIGABYTE = 1 << 30


def _index(device: Any = None) -> int:
    if device is None:
        return devices.current()
    index = devices.spoken(device)
    if index is None:
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return index


def _set_device(device: Any) -> None:
    try:
        if isinstance(device, int) and device < 0:
            return
        devices.make_current(utilities._get_device_index(device))
    except RuntimeError as error:
        hooks.failed(error, "torch.cuda.set_device", (), {})
        raise


def _exchange(index: int) -> int:
    before = devices.current()
    devices.make_current(index)
    return before


def _maybe_exchange(index: int) -> int:
    return _exchange(index)  # two functions, since Dynamo stores one rule for each


def _properties(device: Any = None) -> Any:
    index = _index(device)
    if index >= devices.count():
        raise AssertionError("Invalid device id")
    return SimpleNamespace(
        name="Simulated GPU", major=8, minor=0, total_memory=80 * GIGABYTE, multi_processor_count=108, index=index,
        is_integrated=0, is_multi_gpu_board=0, gcnArchName="", regs_per_multiprocessor=65536, warp_size=32,
        max_threads_per_multi_processor=2048, L2_cache_size=40 << 20, uuid=uuid(index),
        shared_memory_per_block=49152, shared_memory_per_block_optin=166912, shared_memory_per_multiprocessor=167936,
    )  # fmt: skip


def _seed(seed: int, gpus: Any) -> None:
    for gpu in gpus:
        randomness.defaults[gpu].manual_seed(int(seed))


def _synchronize(device: Any = None) -> None:
    _index(device)
    graph_capture.check()


def _memory(device: Any = None) -> int:
    return 0


def _answers() -> dict[str, Any]:
    count = devices.count
    return {
        "is_available": devices.available,
        "device_count": count,
        "_device_count_nvml": count,
        "current_device": devices.current,
        "set_device": _set_device,
        "_exchange_device": _exchange,
        "_maybe_exchange_device": _maybe_exchange,
        "synchronize": _synchronize,
        "get_device_properties": _properties,
        "get_device_name": lambda device=None: _properties(device).name,
        "get_device_capability": lambda device=None: (8, 0),
        "can_device_access_peer": lambda device, peer: _index(device) != _index(peer),
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "get_arch_list": lambda: ["sm_80"],
        "ipc_collect": lambda: None,
        "empty_cache": lambda: None,
        "utilization": _memory,
        "is_current_stream_capturing": graph_capture.active,
        "manual_seed": lambda seed: _seed(seed, [devices.current()]),
        "manual_seed_all": lambda seed: _seed(seed, range(count())),
        "seed": lambda: randomness.defaults[devices.current()].seed(),
        "seed_all": lambda: [generator.seed() for generator in randomness.defaults] and None,
        "initial_seed": lambda: randomness.defaults[devices.current()].initial_seed(),
        "get_rng_state": lambda device="cuda": randomness.defaults[_index(device)].get_state(),
        "set_rng_state": lambda state, device="cuda": (
            randomness.defaults[_index(device)].set_state(state.cpu()) and None
        ),
        "get_rng_state_all": lambda: [generator.get_state() for generator in randomness.defaults[: count()]],
        "set_rng_state_all": _set_all_states,
    }


def _set_all_states(states: Any) -> None:
    for generator, state in zip(randomness.defaults, states):  # noqa: B905 - as PyTorch, use those that exist
        generator.set_state(state.cpu())


def install() -> None:
    """Patch torch.cuda."""
    cuda = torch.cuda
    for name, answer in _answers().items():
        if hasattr(cuda, name):
            replace(cuda, name, answer)
    replace(cuda, "default_generators", tuple(randomness.defaults), add=True)
    replace(cuda, "_initialized", True, add=True)
    for name in ("get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all", "manual_seed",
                 "manual_seed_all", "seed", "seed_all", "initial_seed"):  # fmt: skip
        if hasattr(cuda.random, name):
            replace(cuda.random, name, getattr(cuda, name))
    wrap(torch, "get_device_module", lambda original: lambda device=None: cuda if device is None else original(device))
    replace(torch._C, "_get_accelerator", lambda check=None: torch.device("cuda"))
