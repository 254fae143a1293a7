"""Run the most frequent operators without the dispatcher if nothing observes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ...dispatcher import cpu_fast_path, fast_path, operands
from ...patching import wrap
from ...tensors.tensor import Tensor

_aten: Any = torch.ops.aten
# Each has its own kernel and always creates a new tensor: the overload that a plain call selects.
OF_ONE = {
    "abs": "default", "acos": "default", "all": "default", "amax": "default", "amin": "default", "any": "default",
    "argmax": "default", "argmin": "default", "asin": "default", "atan": "default", "bitwise_not": "default",
    "ceil": "default", "clamp": "default", "clamp_max": "default", "clamp_min": "default", "cos": "default",
    "cosh": "default", "clone": "default",
    "cumprod": "default", "cumsum": "default", "erf": "default", "erfinv": "default", "exp": "default",
    "digamma": "default", "erfc": "default", "expm1": "default", "flip": "default", "floor": "default",
    "frac": "default", "isfinite": "default", "isinf": "default", "isnan": "default", "lgamma": "default",
    "log": "default", "log_softmax": "int", "log10": "default", "log1p": "default", "log2": "default",
    "logical_not": "default", "logsumexp": "default", "mean": "dim", "nan_to_num": "default", "neg": "default",
    "prod": "default", "reciprocal": "default", "relu": "default", "repeat": "default", "round": "default",
    "rsqrt": "default", "sgn": "default", "sigmoid": "default",
    "sign": "default", "sin": "default", "sinh": "default", "softmax": "int",
    "sqrt": "default", "square": "default", "std": "correction", "sum": "dim_IntList", "tan": "default",
    "tanh": "default", "tril": "default", "triu": "default", "trunc": "default",
    "var": "correction",
}  # fmt: skip
OF_TWO = {
    "add": "Tensor", "atan2": "default", "bitwise_and": "Tensor", "bitwise_or": "Tensor",
    "div": "Tensor", "eq": "Tensor", "fmod": "Tensor", "ge": "Tensor", "gt": "Tensor", "le": "Tensor",
    "logical_and": "default", "logical_or": "default", "lt": "Tensor", "maximum": "default", "minimum": "default",
    "ne": "Tensor", "pow": "Tensor_Scalar", "remainder": "Tensor", "sub": "Tensor",
}  # fmt: skip
FACTORS = {"mul": "Tensor"}
PRODUCTS = {"bmm": "default", "mm": "default"}
# Of any number of tensors; `where` has its arguments in another order as a method.
OF_MANY = {
    "addcdiv": "default", "addcmul": "default", "gather": "default", "index_select": "default", "lerp": "Tensor",
    "masked_fill": "Scalar",
}  # fmt: skip
OF_TORCH = {"isclose": "default", "norm": "ScalarOpt_dim", "where": "self"}
PRODUCTS_OF_MANY = {"addmm": "default", "baddbmm": "default", "matmul": "default", "mv": "default"}
PRODUCTS_OF_TORCH = {"einsum": "default", "outer": "default"}
OF_LIST = {"cat": "default", "stack": "default"}
VIEWS = {
    "contiguous": "clone.default", "expand": "expand.default", "permute": "permute.default",
    "reshape": "view.default", "select": "select.int", "squeeze": "squeeze.dim", "transpose": "transpose.int",
    "unsqueeze": "unsqueeze.default", "view": "view.default",
}  # fmt: skip
# Python's operators that call C++ directly.
SIGNS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__eq__": "eq", "__mod__": "remainder", "__ne__": "ne",
}  # fmt: skip

# Methods that return the number in a one-element tensor.
NUMBERS = ("item", "__bool__", "__float__", "__int__", "__index__")


def overload(name: str, which: str) -> Any:
    """Return the operator of this name and overload."""
    return getattr(getattr(_aten, name), which)


def install() -> None:
    """Patch the functions of torch, the methods of Tensor, and Python's operators."""
    for make, names in (
        (fast_path.of_one, OF_ONE),
        (fast_path.of_two, OF_TWO),
        (fast_path.of_factors, FACTORS),
        (fast_path.of_product, PRODUCTS),
        (fast_path.of_list, OF_LIST),
        (operands.of_many, OF_MANY),
        (operands.of_products, PRODUCTS_OF_MANY),
    ):
        for name, which in names.items():
            _lay((torch, Tensor), name, make, overload(name, which))
    for make, names in ((operands.of_many, OF_TORCH), (operands.of_products, PRODUCTS_OF_TORCH)):
        for name, which in names.items():
            _lay((torch,), name, make, overload(name, which))
    _lay((torch,), "rsub", fast_path.of_sign, overload("rsub", "Tensor"))  # `1 - x` calls it
    _lay((Tensor,), "__matmul__", operands.of_products, _aten.matmul.default)
    _lay((torch, Tensor), "detach", operands.of_detach, _aten.detach.default)
    for name, which in VIEWS.items():
        _lay((torch, Tensor), name, fast_path.of_view, overload(*which.split(".")))
    for sign, name in SIGNS.items():
        make = fast_path.of_factors_sign if name in FACTORS else fast_path.of_sign
        _lay((Tensor,), sign, make, overload(name, OF_TWO.get(name, "Tensor")))
    for name in ("max", "min"):
        _lay((torch, Tensor), name, fast_path.of_sole, overload(name, "default"))
    _lay((Tensor,), "__neg__", fast_path.of_one, _aten.neg.default)
    for name in NUMBERS:
        _lay((Tensor,), name, cpu_fast_path.of_number, _aten._local_scalar_dense.default)
    for name in ("elu", "gelu", "hardtanh", "leaky_relu", "log_sigmoid", "mish", "silu", "softplus"):
        _lay((torch._C._nn,), name, fast_path.of_one, overload(name, "default"))


def _lay(owners: Any, name: str, make: Callable[[Any, Any], Any], func: Any) -> None:
    for owner in owners:
        wrap(owner, name, partial(_fast_version, make, func))


def _fast_version(make: Callable[[Any, Any], Any], func: Any, original: Any) -> Any:
    return make(original, func)
