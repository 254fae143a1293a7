"""The device checks of CUDA's operators and the names in their messages, read from the installed torch.

PyTorch generates the wrappers of its CUDA kernels, and their checks, from `native_functions.yaml`, which every wheel
includes in `torchgen`. It is read at the first mismatch, without a YAML library: only three keys of each entry matter.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..accelerators import kinds

# On a Mac, PyTorch selects another operator above these: for attention and convolutions it asks for the device type.
_NEVER_REACHED_ON_MPS = frozenset(
    (
        "_fused_sdp_choice",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "mkldnn_rnn_layer",
        "mkldnn_rnn_layer_backward",
        "from_file",
        "channel_shuffle",
        "_functional_assert_async",
        "_make_dep_token",
    )
)
_COMPOSITE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")


@dataclass(frozen=True)
class Entry:
    """One operator of native_functions.yaml: `kernels` maps a dispatch key to the C++ kernel's name.

    `sizes_outputs` is true where it sets its outputs before an iterator sees them, and no wrapper checks them.
    """

    name: str
    overload: str
    checks: bool
    iterates: bool
    structured: bool
    kernels: dict[str, str]
    delegate: str = ""
    sizes_outputs: bool = False

    def has(self, key: str) -> bool:
        """Return whether PyTorch generates a wrapper for this operator under a dispatch key."""
        return key in self.kernels

    @property
    def composite(self) -> str:
        """The composite key whose kernel runs without one for CUDA; implicit by default."""
        named = next((key for key in _COMPOSITE if key in self.kernels), "")
        return named or ("" if self.kernels or self.structured else "CompositeImplicitAutograd")

    @property
    def absent(self) -> bool:
        """True if the operator has a kernel for the CPU, and none that the world's kind of device could use."""
        return "CPU" in self.kernels and not self.has(kinds.now().model_key) and not self.composite

    def method(self, key: str, is_out: bool) -> str:
        """The name of the generated wrapper, as the messages print it."""
        name = self.name + ("_out" if is_out else "")
        # XPU's wrappers are generated as CUDA's are, whose names are known.
        model, key = key, key.replace("CUDA", kinds.now().key)
        if self.structured and model == "CUDA":
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
    if "\n  ufunc_inner_loop:" in block:  # these kernels are generated
        kernels |= {"CPU": "ufunc", "CUDA": "ufunc"}
    return kernels


def _entry(block: str, blocks: Mapping[str, str]) -> Entry | None:
    header = re.match(r"(\w+)(?:\.(\w+))?\(", block)
    if not header:
        return None
    name, overload = header.group(1), header.group(2) or ""
    structured = bool(re.search(r"^  structured(_delegate)?:", block, re.MULTILINE))
    checks = not re.search(r"^  device_check: *NoCheck", block, re.MULTILINE)
    kernels = _kernels(block)
    delegate = re.search(r"^  structured_delegate: *(\S+)", block, re.MULTILINE)
    if delegate:
        kernels = {**_kernels(blocks.get(delegate.group(1), "")), **kernels}
    delegated = delegate.group(1) if delegate else ""
    alone = "\n  structured: True" in block and "\n  structured_inherits:" not in block and not checks
    return Entry(name, overload, checks, _iterates(block, blocks), structured, kernels, delegated, alone)


def _iterates(block: str, blocks: Mapping[str, str]) -> bool:
    """Return whether an operator uses TensorIterator: declared, inherited, or by delegation."""
    if re.search(r"^  device_check: *NoCheck *# *TensorIterator", block, re.MULTILINE):
        return True
    delegate = re.search(r"^  structured_delegate: *(\S+)", block, re.MULTILINE)
    block = blocks.get(delegate.group(1), block) if delegate else block
    return "structured_inherits: TensorIteratorBase" in block


@cache
def blocks() -> Mapping[str, str]:
    """Return the part of the file about each operator ("add.Tensor"); {} if this torch lacks the file."""
    file = _yaml()
    if file is None:
        return {}
    parts = file.read_text(encoding="utf-8").split("\n- func: ")[1:]
    return {part.partition("(")[0]: part for part in parts}


@cache
def _entry_named(name: str) -> Entry | None:
    """Return the entry of a qualified name ("aten::add.Tensor"); a program needs few, and all of them take 0.1 s."""
    block = blocks().get(name.removeprefix("aten::")) if name.startswith("aten::") else None
    return None if block is None else _entry(block, blocks())


def entries() -> dict[str, Entry]:
    """Return every operator by its qualified name."""
    every = {f"aten::{name}": _entry_named(f"aten::{name}") for name in blocks()}
    return {name: entry for name, entry in every.items() if entry is not None}


def entry_of(func: Any) -> Entry | None:
    """Return the entry of an OpOverload; None for generated and custom operators."""
    return entry_of_schema(func._schema)


def entry_of_schema(schema: Any) -> Entry | None:
    """Return the entry of an operator with this schema."""
    return _entry_named(_qualified_name(schema))


def is_missing(schema: Any) -> bool:
    """Return whether MPS, if that is the world's kind of device, has no kernel for an operator that the CPU has."""
    if kinds.now().name != "mps" or not schema.name.startswith("aten::"):
        return False
    entry = entry_of_schema(schema)
    if entry is None or schema.name.removeprefix("aten::") in _NEVER_REACHED_ON_MPS:
        return False
    return entry.absent or bool(_missing_part(entry))


def _missing_part(entry: Entry) -> str:
    """Return the form, `out` or in place, that a composite operator without a kernel calls, if MPS has none for it."""
    if "CompositeExplicitAutograd" not in entry.kernels or entry.has("MPS") or entry.has("CPU"):
        return ""
    names = (f"{entry.name}.{entry.overload}_out", f"{entry.name}.out", f"{entry.name}_")
    return next((name for name in names if (part := _entry_named(f"aten::{name}")) is not None and part.absent), "")


def reported_name(schema: Any) -> str:
    """Return the name of the operator that a backend without a kernel reports: of a structured one, the `out` form."""
    entry = entry_of_schema(schema)
    inner = (entry.delegate or _missing_part(entry)) if entry is not None else ""
    return f"aten::{inner}" if inner else _qualified_name(schema)


def _qualified_name(schema: Any) -> str:
    return str(schema.name) + (f".{schema.overload_name}" if schema.overload_name else "")
