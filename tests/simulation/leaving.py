"""Enter a world as a program does, use it, and leave it; a line of JSON tells what is not as it was before."""

import copyreg
import gc
import json
import multiprocessing
import multiprocessing.process
import os
import sys
import threading
import types
import unittest
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.attention
import torch.utils.dlpack

from devfix.probe.session import bootstrap
from devfix.probe.simulation import world

GPU = sys.argv[1] if len(sys.argv) > 1 else "cuda"
ROOTS = ("torch", "os", "sys", "threading", "multiprocessing", "unittest", "gc", "copyreg")
KERNELS = ("_local_scalar_dense", "silu_backward", "mish_backward", "native_channel_shuffle")
# What the interpreter writes there itself.
OWN = {"__warningregistry__", "_abc_impl", "__builtins__", "__static_attributes__", "__weakref__"}


def owners() -> Iterator[tuple[str, Any]]:
    """The modules of these roots, and the classes that they define."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ROOTS and isinstance(module, types.ModuleType):
            yield name, module
            for kind in list(vars(module).values()):
                if isinstance(kind, type) and getattr(kind, "__module__", "").partition(".")[0] in ROOTS:
                    yield f"{kind.__module__}.{kind.__qualname__}", kind
    yield "torch._C._VariableFunctionsClass", type(torch._C._VariableFunctions)


def state() -> dict[str, Any]:
    """Everything that is compared: attributes by identity, and what is no attribute by value."""
    found = {f"{name}.{key}": value for name, owner in owners() for key, value in list(vars(owner).items())}
    return {name: value for name, value in found.items() if name.rpartition(".")[2] not in OWN}


def settings() -> dict[str, Any]:
    """What a program can set, and is no attribute."""
    return {
        "gc": (gc.get_threshold(), gc.isenabled(), len(gc.callbacks)),
        "sys.meta_path": list(sys.meta_path),
        "os.environ": dict(os.environ),
        "copyreg": dict(copyreg.dispatch_table),
        "modes": torch._C._len_torch_dispatch_stack(),
        "legacy executor": torch._C._jit_set_profiling_executor(True),
        "tensors that index": torch.ones(2)[0].item(),
        "kernels": [
            name for name in KERNELS if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Lazy")
        ],
    }


def use(kind: str) -> None:
    """Do some of what lets the probe do more."""
    device = GPU if kind == "simulated" else "cpu"
    x = torch.ones(2, 2, device=device, requires_grad=True)
    with torch.autocast(device):
        (x @ x).sum().backward()
    torch.jit.script(torch.nn.Linear(2, 2)).to(device)(x)
    torch.nn.Linear(2, 2).to(device).half()
    torch.nested.nested_tensor([torch.ones(2, 3)], device=device)
    worker = threading.Thread(target=lambda: x + 1)
    worker.start()
    worker.join()
    unittest.TestResult()
    multiprocessing.current_process()


if __name__ == "__main__":
    different: dict[str, list[str]] = {}
    use("cpu")  # PyTorch fills caches of its own at first use
    for kind in ("simulated", "cpu", "simulated"):
        before, set_before = state(), settings()
        os.environ["DEVFIX_PROBE"] = json.dumps(
            {
                "world": {"kind": kind, "gpus": 1 if GPU == "mps" else 2, "current": 0, "device": GPU},
                "traces": os.devnull,
                "map": True,
                "owned": "/",
            }
        )
        bootstrap.obey()
        entered = sum(before.get(name) is not value for name, value in state().items())
        assert entered > 5, "the probe replaces nothing"
        use(kind)
        del os.environ["DEVFIX_PROBE"]
        bootstrap.obey()
        after, set_after = state(), settings()
        left = [name for name, value in before.items() if after.get(name, world) is not value]
        left = [name for name in left if before[name] is not None or "devfix" in repr(after.get(name))]  # caches
        new = [name for name in after.keys() - before.keys() if not isinstance(after[name], types.ModuleType)]
        changed = [
            f"{name}: {value} {set_after[name]}" for name, value in set_before.items() if set_after[name] != value
        ]
        different[f"{kind} {len(different)}"] = sorted(
            [*left, *(name for name in new if "devfix" in repr(after[name])), *changed]
        )
    print(json.dumps(different))
    sys.exit(0)
