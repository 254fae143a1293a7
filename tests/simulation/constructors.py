"""Call every constructor with all its arguments by keyword on a simulated GPU; a line of JSON tells what went wrong."""

import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
COMMON: dict[str, Any] = {"dtype": torch.float64, "device": "cuda", "requires_grad": True}
DENSE: dict[str, Any] = {**COMMON, "layout": torch.strided, "pin_memory": False}
WHOLE: dict[str, Any] = {**DENSE, "dtype": torch.int64, "requires_grad": False}
LIKE: dict[str, Any] = {**DENSE, "memory_format": torch.preserve_format}
SPARSE: dict[str, Any] = {**COMMON, "values": [1.0], "size": (1, 1), "check_invariants": True, "pin_memory": False}
BLOCKS: dict[str, Any] = {**SPARSE, "values": [[[1.0]]]}
BY_ROWS: dict[str, Any] = {"crow_indices": [0, 1], "col_indices": [0]}
BY_COLUMNS: dict[str, Any] = {"ccol_indices": [0, 1], "row_indices": [0]}
RANDOM = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal")
UNSET = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")

# The keyword arguments of each constructor of torch: as many as one call takes.
FUNCTIONS: dict[str, dict[str, Any]] = {
    "tensor": {**COMMON, "data": [4.0], "pin_memory": False},
    "as_tensor": {"data": [4.0], "dtype": torch.float64, "device": "cuda"},
    "asarray": {**COMMON, "obj": [4.0], "copy": True},
    "scalar_tensor": {**DENSE, "s": 2.0},
    "arange": {**DENSE, "start": 1.0, "end": 7, "step": 2},
    "range": {**COMMON, "layout": torch.strided, "start": 1, "end": 7, "step": 2},
    "linspace": {**DENSE, "start": 1, "end": 7, "steps": 3},
    "logspace": {**DENSE, "start": 1, "end": 7, "steps": 3, "base": 2.0},
    "bartlett_window": {**DENSE, "window_length": 4, "periodic": False},
    "blackman_window": {**DENSE, "window_length": 4, "periodic": False},
    "hann_window": {**DENSE, "window_length": 4, "periodic": False},
    "hamming_window": {**DENSE, "window_length": 4, "periodic": False, "alpha": 0.5, "beta": 0.4},
    "kaiser_window": {**DENSE, "window_length": 4, "periodic": False, "beta": 9.0},
    "empty": {**DENSE, "size": (2, 3), "memory_format": torch.contiguous_format},
    "empty_strided": {**DENSE, "size": (2, 3), "stride": (3, 1)},
    "empty_permuted": {**DENSE, "size": (2, 3), "physical_layout": (1, 0)},
    "eye": {**DENSE, "n": 2, "m": 3},
    "full": {**DENSE, "size": (2, 3), "fill_value": 4.0},
    "zeros": {**DENSE, "size": (2, 3)},
    "ones": {**DENSE, "size": (2, 3)},
    "rand": {**DENSE, "size": (2, 3), "generator": None},
    "randn": {**DENSE, "size": (2, 3), "generator": None},
    "randint": {**WHOLE, "low": 1, "high": 5, "size": (2, 3), "generator": None},
    "randperm": {**WHOLE, "n": 4, "generator": None},
    "normal": {**DENSE, "mean": 0.0, "std": 1.0, "size": (2, 3), "generator": None},
    "tril_indices": {**WHOLE, "row": 2, "col": 3, "offset": 1},
    "triu_indices": {**WHOLE, "row": 2, "col": 3, "offset": 1},
    "sparse_coo_tensor": {**SPARSE, "indices": [[0], [0]], "is_coalesced": True},
    "sparse_csr_tensor": {**SPARSE, **BY_ROWS},
    "sparse_csc_tensor": {**SPARSE, **BY_COLUMNS},
    "sparse_bsr_tensor": {**BLOCKS, **BY_ROWS},
    "sparse_bsc_tensor": {**BLOCKS, **BY_COLUMNS},
    "sparse_compressed_tensor": {
        **SPARSE, "compressed_indices": [0, 1], "plain_indices": [0], "layout": torch.sparse_csr,
    },
    "empty_like": LIKE,
    "zeros_like": LIKE,
    "ones_like": LIKE,
    "full_like": {**LIKE, "fill_value": 4.0},
    "rand_like": LIKE,
    "randn_like": LIKE,
    "randint_like": {**LIKE, "low": 1, "high": 5},
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "new_tensor": {**COMMON, "data": [4.0]},
    "new_empty": {**DENSE, "size": (2, 3)},
    "new_empty_strided": {**DENSE, "size": (2, 3), "stride": (3, 1)},
    "new_full": {**DENSE, "size": (2, 3), "fill_value": 4.0},
    "new_ones": {**DENSE, "size": (2, 3)},
    "new_zeros": {**DENSE, "size": (2, 3)},
}
FREQUENCIES: dict[str, dict[str, Any]] = {name: {**DENSE, "n": 4, "d": 2.0} for name in ("fftfreq", "rfftfreq")}
# Operators with a device that make no tensor on a GPU: moves, pinning, files, and quantized tensors.
NO_CONSTRUCTORS = {"to", "is_pinned", "pin_memory", "from_file", "empty_quantized"}


def cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every constructor: its name, the function, and its arguments."""
    for name, given in FUNCTIONS.items():
        if name.endswith("_like"):
            yield name, getattr(torch, name), {"input": torch.ones(2, 3), **given}
        elif hasattr(torch, name):
            yield name, getattr(torch, name), given
    for name, given in METHODS.items():
        yield name, getattr(torch.ones(2, 3), name), given
    for name, given in FREQUENCIES.items():
        yield name, getattr(torch.fft, name), given


def differences(name: str, make: Any, given: dict[str, Any]) -> Iterator[str]:
    """What a constructor gets wrong, called with all arguments, and with each of the optional ones alone."""
    asked = [name for name in ("dtype", "requires_grad", "layout", "pin_memory", "memory_format") if name in given]
    needed = {key: value for key, value in given.items() if key not in asked}
    for chosen in (given, needed, *({**needed, key: given[key]} for key in asked)):
        if name == "sparse_compressed_tensor":
            chosen = {**chosen, "layout": given["layout"]}
        for device, where in (("cuda", "cuda:0"), (1, "cuda:1"), (torch.device("cuda:1"), "cuda:1")):
            try:
                made = make(**{**chosen, "device": device})
                plain = make(**{**chosen, "device": "cpu"})
            except Exception as error:
                yield f"{sorted(chosen)} on {device!r}: {type(error).__name__}: {error}"
                continue
            if str(made.device) != where:
                yield f"{sorted(chosen)} lies on {made.device}, not on {where}"
            for what in ("dtype", "shape", "layout", "requires_grad", "is_leaf"):
                if getattr(made, what) != getattr(plain, what):
                    yield f"{sorted(chosen)} has another {what}: {getattr(made, what)}"
            if name not in (*RANDOM, *UNSET) and not torch.equal(made.cpu().to_dense(), plain.to_dense()):
                yield f"{sorted(chosen)} has other values: {made}"


def listed() -> set[str]:
    """The constructors among PyTorch's operators: those with a public name that are given a device."""
    found = set()
    for full in torch._C._dispatch_get_all_op_names():
        name, _, overload = full.partition(".")
        base = name.removeprefix("aten::")
        public = hasattr(torch, base) or hasattr(torch.Tensor, base)
        if not name.startswith("aten::") or base.startswith("_") or not public:
            continue
        if any(argument.name == "device" for argument in torch._C._get_schema(name, overload).arguments):
            found.add(base)
    return found - NO_CONSTRUCTORS


if __name__ == "__main__":
    missing = listed() - FUNCTIONS.keys() - METHODS.keys()
    world.enter("simulated", 2)
    wrong = {name: found for name, make, given in cases() if (found := list(differences(name, make, given)))}
    print(json.dumps({"wrong": wrong, "missing": sorted(missing)}))
    sys.exit(0)
