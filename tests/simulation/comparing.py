"""Run samples of PyTorch's operator database on the CPU and on a simulated GPU, and say where they differ."""

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

# Arguments that must lie on the CPU wherever the rest lies.
DEVICES = ("cuda", "mps", "xpu")
# What a device refuses by itself, in words of its errors (docs/explanation/accelerators.md).
REFUSALS = {
    "cuda": (),
    "xpu": (),
    "mps": (
        "currently implemented for the MPS device",
        "MPS framework doesn't support float64",
        "to the MPS backend",
        "only for Floating types",
        "Adaptive pool MPS: ",
        "ConvTranspose 3D with BF16 or FP16",
        "index_reduce for MPS does not support",
        "linear for non-float inputs",
        "linalg_inv: not supported",
        "linalg.lu_factor(): MPS",
        "linalg.solve.triangular(); Only float",
        "cholesky_inverse: MPS only",
    ),
}
ON_HOST = {"tensor_split": 0}
RANDOM_CONTENTS = (
    "empty",
    "empty_like",
    "new_empty",
    "empty_permuted",
    "empty_strided",
    "new_empty_strided",
    "resize_",
)
# Operators whose results lie in another order on CUDA (kernels/layouts.py), which changes the last bits of gradients.
ORDERED_BY_CUDA = ("linalg.svd", "linalg.svdvals", "svd_lowrank", "pca_lowrank", "nn.functional.max_unpool2d")


def copied(value: Any, grad: bool, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        made = value.detach().clone().to(device)
        return made.requires_grad_() if grad and value.requires_grad else made
    if isinstance(value, (str, torch.device)) and str(value) == "cpu":
        return torch.device(device)
    return value


def arguments(op: Any, sample: Any, grad: bool, device: str) -> list[Any]:
    parts = (sample.input, sample.args, sample.kwargs)
    made = [tree_map(lambda value: copied(value, grad, device), part) for part in parts]
    if op.name in ON_HOST and made[1]:
        place = ON_HOST[op.name]
        made[1] = [item.cpu() if i == place and hasattr(item, "cpu") else item for i, item in enumerate(made[1])]
    return made


def run(call: Any, made: list[Any], grad: bool) -> tuple[Any, str]:
    """What a call gives (values, gradients, identities), and the error instead."""
    torch.manual_seed(0)
    try:
        result = call(made[0], *made[1], **made[2])
        gradients = None
        if grad:
            outputs = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor) and x.requires_grad]
            inputs = [x for x in tree_flatten(made)[0] if isinstance(x, torch.Tensor) and x.requires_grad]
            if outputs and inputs:
                torch.manual_seed(1)
                sums = [x.abs().sum() if x.is_complex() else x.sum() for x in outputs]
                gradients = torch.autograd.grad(sums, inputs, allow_unused=True)
        return (result, gradients, related(result, made)), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def related(result: Any, made: list[Any]) -> list[Any]:
    """Which results are arguments, and which share their memory."""
    inputs = [x for x in tree_flatten(made)[0] if isinstance(x, torch.Tensor) and x.layout is torch.strided]
    outputs = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor) and x.layout is torch.strided]
    return [
        (x is y, x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() != 0) for x in outputs for y in inputs
    ]


def difference(one: Any, two: Any, values: bool = True, close: bool = False) -> str:
    """How the result on the simulated GPU differs from that on the CPU; empty where it does not.

    With `close` values may differ in their last bits.
    """
    if isinstance(one, torch.Tensor):
        return tensor_difference(one, two, values, close)
    if isinstance(one, dict):
        return difference(list(one.values()), list(two.values()), values, close)
    if isinstance(one, (list, tuple)):
        if len(one) != len(two):
            return "length"
        pairs = (difference(a, b, values, close) for a, b in zip(one, two, strict=True))
        return next((text for text in pairs if text), "")
    if isinstance(one, torch.device):
        return "" if two.type in DEVICES else f"device {two}"
    if isinstance(one, float) and one != one:
        return "" if two != two else "not a number"
    if type(one).__name__ in ("TypedStorage", "UntypedStorage"):
        return ""
    return "" if not values or one == two else f"{one!r} against {two!r}"


def tensor_difference(one: torch.Tensor, two: Any, values: bool, close: bool = False) -> str:
    if not isinstance(two, torch.Tensor) or two.device.type not in DEVICES:
        return f"not on the GPU: {type(two)}"
    for name in ("dtype", "shape", "layout", "requires_grad"):
        if getattr(one, name) != getattr(two, name):
            return f"{name} {getattr(one, name)} against {getattr(two, name)}"
    if one.layout is torch.strided and one.stride() != two.stride():
        return f"stride {one.stride()} against {two.stride()}"
    same = not values or contents(one) == contents(two)
    if not same and close and one.layout is torch.strided and not one.is_quantized:
        same = torch.allclose(one, two.cpu(), rtol=1e-4, atol=1e-4, equal_nan=True)
    return "" if same else "values"


def contents(tensor: torch.Tensor) -> bytes:
    held = tensor.detach().cpu()
    held = held.to_dense() if held.layout is not torch.strided else held.dequantize() if held.is_quantized else held
    held = torch.view_as_real(held.resolve_conj()) if held.is_complex() else held
    if held.dtype.is_floating_point and held.dtype not in (torch.float32, torch.float64):
        held = held.float()
    # Every not-a-number is one.
    held = torch.nan_to_num(held, nan=1234.5) if held.is_floating_point() else held
    return held.resolve_neg().contiguous().numpy(force=True).tobytes()


def samples(op: Any, dtype: torch.dtype, grad: bool, most: int) -> Iterator[Any]:
    return itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=grad), most)


def in_order(value: Any) -> Any:
    return tree_map(lambda x: x.contiguous() if isinstance(x, torch.Tensor) and x.layout is torch.strided else x, value)


def written(op: Any, made: list[Any]) -> tuple[Any, Any]:
    """The arguments afterwards, apart from those that lie on the CPU in both."""
    if op.name in ON_HOST:
        return made[0][0], made[1][0]
    return made[0], made[1]


def compare(op: Any, call: Any, sample: Any, grad: bool, inplace: bool = False, gpu: str = "cuda") -> str:
    """Compare one sample, again if only its values differ: the last bits of LAPACK's depend on the alignment of memory.

    Of 800 samples of `linalg.lstsq`, 9 differed eight times in a row, and none 64 times (gelsy, LAPACK of MKL).
    """
    text = ""
    for attempt in range(64):
        kept = [torch.empty(1 + 7 * attempt) for _ in range(attempt)]  # moves the next tensors in memory
        try:
            made = [arguments(op, sample, grad, device) for device in ("cpu", f"{gpu}:0")]
        except TypeError as error:  # of a dtype that the device lacks
            return f"CPU: ok; GPU: {type(error).__name__}: {error}"
        del kept
        if inplace:
            # A leaf that requires grad may not be written to.
            made = [[part[0].detach().clone(), *part[1:]] for part in made]
        (one, failed_one), (two, failed_two) = run(call, made[0], grad), run(call, made[1], grad)
        if "not implemented for '" in failed_one:
            return ""  # CUDA knows dtypes that the CPU does not
        if bool(failed_one) != bool(failed_two):
            return f"CPU: {failed_one or 'ok'}; GPU: {failed_two or 'ok'}"[:300]
        values = op.name not in RANDOM_CONTENTS
        close = op.name in ORDERED_BY_CUDA and gpu == "cuda"
        pairs = [] if failed_one else [(one, two), written(op, made)]
        pairs = [(in_order(a), in_order(b)) for a, b in pairs] if close else pairs
        text = next((found for pair in pairs if (found := difference(*pair, values, close))), "")
        if text != "values":
            return text
    return text
