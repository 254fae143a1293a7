"""`torch.distributed` with NCCL runs on Gloo, which transfers the values of simulated tensors.

Tensors on the CPU are rejected if the program's group only has NCCL, as NCCL rejects them. What a group says of itself
is what it would say with NCCL.
"""

from __future__ import annotations

import atexit
import sys
import time
from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds
from ...checks import collective_mixtures, nccl_checks
from ...operator_tables.plans import special
from ...patching import replace, wrap
from ...tensors.tensor import Tensor
from ...tensors.unwrapping import rewrap, unwrap_all
from . import futures, nccl_options

_LETTING_GO = 0.05  # seconds
_WHOLE = ("c10d::_allgather_base_", "c10d::_reduce_scatter_base_")
_asked: dict[str, str] = {}  # the name of a group -> the backend that the program requested
_places: dict[str, str] = {}  # the name of a group -> the backend of each kind of device ("cpu:gloo,cuda:nccl")


def _without_nccl(backend: Any) -> Any:
    return "gloo" if backend is None or kinds.now().backend in str(backend).lower() else backend


def _is_only_on_gpus(group: Any) -> bool:
    places = _places.get(_name(group), "")
    return kinds.now().backend in places and not any(place.startswith("cpu:") for place in places.split(","))


def _name(group: Any) -> str:
    try:
        return str(group.group_name)
    except (AttributeError, RuntimeError):
        return ""


def _remember(group: Any, backend: Any) -> None:
    from torch.distributed.distributed_c10d import Backend, BackendConfig  # which not every build has

    asked = "undefined" if backend is None else str(backend).lower()
    _asked[_name(group)] = asked
    _places[_name(group)] = repr(BackendConfig(Backend(asked)))


def _begin(original: Any) -> Any:
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device_id")
        if backend is None and device is not None:
            backend = kinds.now().backend
        if (index := getattr(device, "index", device)) is not None:
            devices.exists(index)  # what PyTorch refuses, the program has asked for
        _drop_options(kwargs)
        result = original(_without_nccl(backend), *args, **kwargs)
        _remember(torch.distributed.group.WORLD, backend)
        if kinds.now().backend in str(backend).lower():
            devices.need_one_each(torch.distributed.get_world_size())
        return result

    return init_process_group


def _drop_options(kwargs: dict[str, Any]) -> None:
    """Drop the options of NCCL, which Gloo would not take."""
    if isinstance(kwargs.get("pg_options"), nccl_options.ProcessGroupNCCL.Options):
        del kwargs["pg_options"]


def _destroy(original: Any) -> Any:
    def destroy_process_group(group: Any = None) -> Any:
        _let_go()
        return original(group)

    return destroy_process_group


def _let_go() -> None:
    """Release the GIL for Gloo's threads, if there is a group.

    After a backward pass they hold a Python object that they release once they get the GIL, while C++ holds it and
    waits for them as a group ends: torch 2.13 deadlocks there with Gloo on the CPU too, with NCCL never.
    """
    if torch.distributed.is_initialized():
        time.sleep(_LETTING_GO)


def _new_group(original: Any) -> Any:
    def new_group(ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        _drop_options(kwargs)
        group = original(ranks, timeout, None if backend is None else _without_nccl(backend), *args, **kwargs)
        _remember(group, _asked.get(_name(torch.distributed.group.WORLD)) if backend is None else backend)
        return group

    return new_group


def _backend(original: Any) -> Any:
    def get_backend(group: Any = None) -> Any:
        found = original(group)
        return _asked.get(_name(group or torch.distributed.group.WORLD), found)

    return get_backend


def _configuration(original: Any) -> Any:
    def get_backend_config(group: Any = None) -> Any:
        found = original(group)
        return _places.get(_name(group or torch.distributed.group.WORLD), found)

    return get_backend_config


def _object_device(original: Any) -> Any:
    def device(group: Any = None) -> Any:
        only = _is_only_on_gpus(group or torch.distributed.group.WORLD)
        return kinds.now().name if only else original(group)

    return device


def _note_operation(original: Any) -> Any:
    """Note the operation of a reduction, for the checks of NCCL."""

    def reduce(*args: Any, **kwargs: Any) -> Any:
        operation = kwargs.get("op") or next((item for item in args if _is_operation(item)), None)
        outer, nccl_checks.asked.operation = nccl_checks.asked.operation, str(operation).rpartition(".")[2]
        try:
            return original(*args, **kwargs)
        finally:
            nccl_checks.asked.operation = outer

    return reduce


def _is_operation(item: Any) -> bool:
    kind = torch.distributed.ReduceOp
    return isinstance(item, (kind, kind.RedOpType))


def _barrier(original: Any) -> Any:
    def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
        return original(group, async_op)

    return barrier


def _unbox(group: Any) -> Any:
    try:
        return torch.distributed.ProcessGroup.unbox(group)
    except (AttributeError, RuntimeError, TypeError):
        return torch.distributed.group.WORLD


def _refuse(group: Any, name: str, args: Any) -> None:
    """Raise what the backend of a group does for tensors that it does not take, or that are on several devices."""
    is_on_gpu = any(each._devfix_gpu >= 0 for each in collective_mixtures.first_backend(args))
    places = _places.get(_name(group), "")
    kind = kinds.now().name if is_on_gpu else "cpu"
    if places and not any(place.startswith(f"{kind}:") for place in places.split(",")):
        raise RuntimeError(f"No backend type associated with device type {kind}")
    if f"{kind}:nccl" in places:
        collective_mixtures.refuse_by_nccl(name, args, group.size())
        nccl_checks.check(name, args, group.size())
    else:
        collective_mixtures.refuse_by_gloo(name, args)


@special("c10d*")
def collective(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a collective on the values of the tensors."""
    tensors = [item for part in args for item in collective_mixtures.flat(part)]
    group = next((item for item in args if isinstance(item, torch.ScriptObject)), None)
    if group is not None and plan.name not in ("c10d::barrier", "c10d::monitored_barrier_"):
        _refuse(_unbox(group), plan.name, args)
    futures.remember(tensors)
    held = [_host_values(part) for part in args]
    if plan.name in _WHOLE:
        # NCCL compares the numbers of elements and not the shapes; Gloo requires equal shapes.
        held = [part.view(-1) if isinstance(part, Tensor) and part.is_contiguous() else part for part in held]
    _, keywords, _ = unwrap_all((), kwargs)
    result = plan.op(*held, **keywords)
    gpu = next((item._devfix_gpu for item in tensors if item._devfix_gpu >= 0), -1)
    if gpu >= 0:
        result = rewrap(plan, result, tensors, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


def _host_values(part: Any) -> Any:
    if isinstance(part, (list, tuple)):
        return [_host_values(item) for item in part]
    return part._devfix_held if isinstance(part, Tensor) and part._devfix_gpu >= 0 else part


def _modules_with(name: str, value: Any) -> list[Any]:
    """Return the modules of torch.distributed that have a function by this name."""
    modules = [module for path, module in list(sys.modules.items()) if path.startswith("torch.distributed")]
    return [module for module in modules if getattr(module, "__dict__", {}).get(name) is value]


def install() -> None:
    """Patch torch.distributed, if this torch has it and the kind of device a backend of its own."""
    distributed, kind = torch.distributed, kinds.now()
    if not distributed.is_available() or not kind.backend:
        return
    import torch.distributed.distributed_c10d as c10d

    patches = {
        "init_process_group": _begin,
        "new_group": _new_group,
        "destroy_process_group": _destroy,
        "get_backend": _backend,
        "get_backend_config": _configuration,
        "barrier": _barrier,
        "_get_object_coll_device": _object_device,
        **dict.fromkeys(("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor"), _note_operation),
    }
    for name, make in patches.items():
        known = getattr(c10d, name)
        wrap(c10d, name, make)
        for module in _modules_with(name, known):  # `device_mesh` has names of its own
            replace(module, name, getattr(c10d, name))
    for owner in (c10d, distributed):
        replace(owner, f"is_{kind.backend}_available", lambda: True)
    if kind.is_cuda:
        replace(torch.cuda.nccl, "version", lambda: (2, 21, 5))
        for owner in (torch._C._distributed_c10d, c10d, distributed):
            if not hasattr(owner, "ProcessGroupNCCL"):
                replace(owner, "ProcessGroupNCCL", nccl_options.ProcessGroupNCCL, add=True)
    atexit.unregister(_let_go)
    atexit.register(_let_go)
