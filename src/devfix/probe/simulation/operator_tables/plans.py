"""Execution plans of operators, derived once from each operator's schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..accelerators import kinds
from ..native.loading import forget_plans
from . import dtypes, policy
from .operators import source_argument

PLAIN, TENSOR, LIST = 0, 1, 2
_RESHAPING = (
    "resize",
    "t_",
    "transpose_",
    "squeeze_",
    "unsqueeze_",
    "set_",
    "as_strided_",
    "swap",
    "movedim_",
    "addbmm_",
)


# How to run the operators that need more than unwrapping, by base name, or by the name of one overload
# ("aten::mm.dtype"); "*device" for all other factories.
SPECIAL: dict[str, Callable[..., Any]] = {}


def special(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how to run the operators with these names: `run(plan, func, args, kwargs)`."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            SPECIAL[name] = run
        return run

    return register


def _kind(argument: Any) -> int:
    text = str(argument.type)
    if "Tensor" not in text:
        return PLAIN
    return LIST if text.startswith(("List", "Optional[List")) else TENSOR


_WITH_GENERATOR = {"default": "generator", "low": "low_generator"}


def _generator_call(func: Any, arguments: Any) -> Callable[..., Any] | None:
    """Return how to call an operator with a keyword `generator`: itself, or its overload; None if it takes none."""
    if any(argument.name == "generator" and argument.kwarg_only for argument in arguments):
        return func._op  # type: ignore[no-any-return]
    name = _WITH_GENERATOR.get(getattr(func, "_overloadname", ""), "")
    other = getattr(func._overloadpacket, name, None) if name in func._overloadpacket.overloads() else None
    return None if other is None else other._op


class Plan:
    """The plan by which one operator is run: tensor arguments, results, written arguments, and kind."""

    __slots__ = (
        "base",
        "device",
        "fresh",
        "generator",
        "kinds",
        "name",
        "op",
        "pure",
        "random",
        "refused",
        "reshapes",
        "returned",
        "seeded",
        "several",
        "source",
        "special",
        "usual",
        "view",
        "written",
    )

    def __init__(self, func: Any) -> None:
        schema = func._schema
        arguments = schema.arguments
        self.op = func._op
        self.name: str = func._name
        self.usual: Callable[..., Any] | None = None
        self.kinds = tuple(_kind(argument) for argument in arguments if not argument.kwarg_only)
        self.device = any(argument.name == "device" for argument in arguments)
        self.generator = any("Generator" in str(argument.type) for argument in arguments)
        self.seeded = _generator_call(func, arguments)
        tags = getattr(func, "tags", ())
        drawing = "sdp_choice" not in schema.name and "flash_attention_for_cpu" not in schema.name
        self.random = self.generator or (drawing and torch.Tag.nondeterministic_seeded in tags)
        writes = [argument for argument in arguments if argument.alias_info and argument.alias_info.is_write]
        base = schema.name.split("::")[-1]
        self.base = dtypes.base_of(schema.name)
        self.refused = dtypes.find_refusal(self.base) if schema.name.startswith("aten::") else None
        out = any(argument.is_out for argument in writes)
        self.reshapes = bool(writes) and (
            out or base.startswith(("resize", "sparse_resize")) or base.endswith(_RESHAPING)
        )
        self.source = source_argument(func)
        returns = schema.returns
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(func._name, "CompositeImplicitAutograd")
        one = len(returns) == 1 and str(returns[0].type) == "Tensor"
        aliased = any(argument.alias_info for argument in (*arguments, *returns))
        self.pure = not writes and not aliased
        self.view = one and aliased and not writes and not composite
        self.fresh = one and not writes and not composite and not aliased
        self.several = not one and not writes and not composite
        if schema.name.startswith("c10d::"):
            base = "c10d*"
        self.special = (
            SPECIAL["*registered"]
            if registered_keys(func._name)
            else SPECIAL.get(self.name)
            or SPECIAL.get(base)
            or SPECIAL.get("*device" if self.device else "*random" if self.random else "")
        )
        if policy.is_missing(schema):
            self.usual, self.special = self.special, SPECIAL["*missing"]
        self.returned = self._written_argument(returns, arguments, writes)
        names = [argument.name for argument in arguments if not argument.kwarg_only]
        self.written = tuple(names.index(each.name) if each.name in names else each.name for each in writes)

    @staticmethod
    def _written_argument(returns: Any, arguments: Any, writes: Any) -> int:
        """The position of the only argument that the operator writes and returns (`add_`), otherwise -1."""
        positional = [argument for argument in arguments if not argument.kwarg_only]
        if len(returns) == 1 and len(writes) == 1 and returns[0].alias_info and writes[0] in positional:
            name = writes[0].name
            if str(returns[0].type) == "Tensor":
                return [argument.name for argument in positional].index(name)
        return -1


# CUDA builds have Python kernels (`torch._native`: `aten::bmm`) that only run on their GPUs.
_PYTORCHS = frozenset(name for name in torch.library._impls if name.startswith("aten/"))


def own_keys() -> tuple[str, ...]:
    """Return the dispatch keys whose kernels in Python run in the simulated world, those above the others first."""
    return ("BackendSelect", kinds.now().key, "CPU", "CompositeExplicitAutograd")


def registered_keys(name: str) -> set[str]:
    """Return the dispatch keys for which the program has registered Python kernels of an operator."""
    space, _, operator = name.partition("::")
    known = torch.library._impls
    names = {key: f"{space}/{operator}/{key}" for key in own_keys()}
    return {key for key, name in names.items() if name in known and name not in _PYTORCHS}


class HigherOrder(Plan):
    """The plan by which a higher-order operator (`flex_attention`) is run: as its decomposition."""

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        self.special = SPECIAL["*higher order"]


_plans: dict[int, Plan] = {}  # by id: hashing an OpOverload runs Python
_functions: list[Any] = []  # keeps operators alive, so that their ids are not reused


def forget(name: str) -> None:
    """Discard the plans of the operators with a base name, or a qualified one."""
    for func in _functions:
        schema = getattr(func, "_schema", None)
        if schema is not None and name in (schema.name.split("::")[-1], getattr(func, "_name", "")):
            _plans.pop(id(func), None)
    forget_plans()


def forget_all() -> None:
    """Discard every plan: they hang on the kind of the world's devices."""
    _plans.clear()
    forget_plans()


def plan_of(func: Any) -> Plan:
    """Return the plan of an operator, created at its first call."""
    plan = _plans.get(id(func))
    if plan is None:
        plan = _plans[id(func)] = Plan(func) if hasattr(func, "_schema") else HigherOrder(func)
        _functions.append(func)
    return plan
