"""Which operators check the devices of their arguments on CUDA, and under which names: read from the installed torch.

PyTorch generates its CUDA kernels' wrappers, and their checks, from `native_functions.yaml`, which every wheel ships in
`torchgen`. It is read at the first mismatch, without a YAML library: only three keys of each entry matter.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_COMPOSITE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")


@dataclass(frozen=True)
class Entry:
    """One operator of native_functions.yaml: `kernels` maps a dispatch key to the C++ kernel's name."""

    name: str
    overload: str
    checks: bool
    iterates: bool
    structured: bool
    kernels: dict[str, str]

    def has(self, key: str) -> bool:
        """Whether PyTorch generates a wrapper of its own for this operator under a dispatch key."""
        return key in self.kernels or (self.structured and key == "CUDA")

    @property
    def composite(self) -> str:
        """The composite key whose kernel runs where there is none for CUDA; implicit where nothing is said."""
        named = next((key for key in _COMPOSITE if key in self.kernels), "")
        return named or ("" if self.kernels or self.structured else "CompositeImplicitAutograd")

    def method(self, key: str, is_out: bool) -> str:
        """The name of the generated wrapper, as the messages print it."""
        name = self.name + ("_out" if is_out else "")
        if self.structured and key == "CUDA":
            return f"wrapper_{key}_{name}" + (f"_{self.overload}" if self.overload else "")
        return f"wrapper_{key}_{self.overload}_{name}"


def _yaml() -> Path | None:
    spec = importlib.util.find_spec("torchgen")
    places = list(spec.submodule_search_locations or ()) if spec else []
    files = [Path(place) / "packaged/ATen/native/native_functions.yaml" for place in places]
    return next((file for file in files if file.is_file()), None)


def _kernels(block: str) -> dict[str, str]:
    kernels = {}
    found = re.search(r"^  dispatch:\n((?:    .*\n?|\s*\n)*)", block, re.MULTILINE)
    for line in (found.group(1) if found else "").splitlines():
        keys, _, kernel = line.partition("#")[0].rpartition(":")
        for key in keys.split(","):
            if key.strip():
                kernels[key.strip()] = kernel.strip()
    return kernels


def _entry(block: str) -> tuple[str, Entry] | None:
    header = re.match(r"(\w+)(?:\.(\w+))?\(", block)
    if not header:
        return None
    name, overload = header.group(1), header.group(2) or ""
    structured = bool(re.search(r"^  structured(_delegate)?:", block, re.MULTILINE))
    checks = not re.search(r"^  device_check: *NoCheck", block, re.MULTILINE)
    iterates = bool(re.search(r"^  device_check: *NoCheck *# *TensorIterator", block, re.MULTILINE))
    entry = Entry(name, overload, checks, iterates, structured, _kernels(block))
    return (f"aten::{name}" + (f".{overload}" if overload else "")), entry


@cache
def entries() -> dict[str, Entry]:
    """Every operator by its qualified name ("aten::add.Tensor"); empty where this torch ships no such file."""
    file = _yaml()
    if file is None:
        return {}
    blocks = file.read_text(encoding="utf-8").split("\n- func: ")[1:]
    return dict(pair for pair in map(_entry, blocks) if pair)


def entry_of(func: Any) -> Entry | None:
    """The entry of an OpOverload; None for operators that PyTorch generates or others add."""
    schema = func._schema
    return entries().get(schema.name + (f".{schema.overload_name}" if schema.overload_name else ""))
