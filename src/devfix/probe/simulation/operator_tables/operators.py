"""Classify operators for provenance: which create a tensor, and from which argument a result derives."""

from __future__ import annotations

import re
from typing import Any

CREATED = -1
RECREATED = -2  # created even if the tensor was known: its memory is another, or an outer function is the creator
REDRAWN = -3  # filled with random numbers, which counts as its creation
CHOSEN = -4  # from the first argument of `sources_of` that has dimensions
_LIKE = re.compile(r"(_like|^new_\w+|^lift_fresh|^lift_fresh_copy)$")
_BETWEEN = frozenset(("linspace", "logspace"))  # a tensor among their arguments gives a number
# If the first tensor is not the source: conditions, biases, weights from which rows are selected.
_SOURCE = dict.fromkeys(["addmm", "baddbmm", "addbmm", "addmv", "addr", "embedding", "embedding_bag"], 1)
_RANDOM = re.compile(
    r"^(new_)?(rand\w*|normal|bernoulli|multinomial|poisson|binomial|_standard_gamma|_sample_dirichlet|dropout|native_dropout)$"
)
_REDRAWN = re.compile(r"^(normal|uniform|random|bernoulli|exponential|cauchy|geometric|log_normal)_$")
_CONSTANT = re.compile(r"^(lift_fresh\w*|(scalar_|as_|new_)?tensor|asarray|\w*Tensor|sparse_\w+)$")
_LOAD = re.compile(r"(^|\.)(load|load_file|safe_open|_rebuild\w*|_load\w*|set_|loader)$")
_NUMPY = re.compile(r"(from_numpy|frombuffer|from_dlpack|from_file)$")
_KEEPS = re.compile(
    r"^(_to_copy|clone|contiguous|detach|float|half|double|long|int|bool|bfloat16|type_as|alias|lift\w*|parameter|deepcopy|"
    r"_unsafe_view|_reshape_(alias|copy))$"
)


def source_argument(func: Any) -> int:
    """Return the position of the argument that a result derives from, or one of the constants above."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return RECREATED
    name = base_name(func)
    if name == "set_":
        return RECREATED
    if _REDRAWN.match(name):
        return REDRAWN
    if name == "where":
        return CHOSEN
    if _LIKE.search(name) or name in _BETWEEN:
        return CREATED
    tensors = [at for at, argument in enumerate(schema.arguments) if "Tensor" in str(argument.type)]
    if not tensors:
        return CREATED
    wanted = _SOURCE.get(name, tensors[0])
    return wanted if wanted in tensors else tensors[0]


def chosen_source(args: Any) -> Any:
    """Return the argument of `where` that a result derives from: with two numbers, the condition.

    The numbers of `torch.where(mask, 0.5, 0.0)` are tensors without dimensions where the operator is called.
    """
    condition, *values = args[:3]
    return next((each for each in (*values, condition) if getattr(each, "ndim", 0)), values[0] if values else condition)


def base_name(what: Any) -> str:
    """Return an operator's bare name ("arange") without its namespace and overload."""
    if isinstance(what, str):
        return what.rpartition("::")[2].rpartition(".")[2]
    schema = getattr(what, "_schema", None)
    return schema.name.rpartition("::")[2] if schema is not None else getattr(what, "__name__", "")


def qualified_name(what: Any) -> str:
    """Return an operator's name as traces have it: "aten::arange", or a function's own ("torch.load")."""
    if what is None:
        return ""
    if isinstance(what, str):
        return what
    schema = getattr(what, "_schema", None)
    return schema.name if schema is not None else getattr(what, "__name__", str(what))


def event_kind(what: Any) -> str:
    """Return the kind of event of an operator that is not a move between devices."""
    if what is None:
        return "unknown"
    name = base_name(what)
    if name in ("parameter", "deepcopy"):
        return "parameter" if name == "parameter" else "op"
    if isinstance(what, str) and (_NUMPY.search(what) or what.endswith("numpy")):
        return "numpy"
    if _LOAD.search(name):
        return "load"
    if _RANDOM.match(name) or _REDRAWN.match(name):
        return "random"
    if _CONSTANT.match(name):
        return "constant"
    if is_view(what):
        return "view"
    return "factory" if source_argument(what) < 0 else "op"


def is_view(what: Any) -> bool:
    """Return whether the operator's result shares its argument's memory."""
    schema = getattr(what, "_schema", None)
    if schema is None:
        return False
    return any(out.alias_info is not None and not out.alias_info.is_write for out in schema.returns)


def keeps_identity(what: Any) -> bool:
    """Return whether the result has the same data: a view, a cast, a copy on the same device."""
    return is_view(what) or _KEEPS.match(base_name(what)) is not None
