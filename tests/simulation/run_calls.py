"""Call the functions of PyTorch's operator database in several ways; print what differs from torch without a world.

By position, by keyword (`input=`), as a method, and each of them traced by `torch.jit.trace`. The calls on the CPU are
made before the world is entered, so that they reach PyTorch's own functions. Printed as JSON: the differences, and how
many calls there were of each kind. Argument: "7" takes every seventh operator, "7/3" those from the third on.
"""

import inspect
import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import comparing
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
SPACES = (torch, torch.nn.functional, torch.linalg, torch.fft, torch.special, torch._C._nn, torch.Tensor)
WAYS = ("traced", "position", "keyword", "method")
MOST = 2  # samples of each operator
# What takes no tensor, compiles CUDA code, or is the CUDA kernel itself.
APART = ("broadcast_shapes", "jiterator", "torch.ops.aten", "torch._scaled_mm")
Call = Callable[[Any, Any, Any], Any]

parameters: dict[str, list[tuple[str, ...]]] = defaultdict(list)
for schema in torch._C._jit_get_all_schemas():
    if schema.name.startswith("aten::"):
        names = tuple("input" if each.name == "self" else each.name for each in schema.arguments)
        parameters[schema.name[len("aten::") :]].append(names)


def place_of(function: Any) -> tuple[Any, str] | None:
    """Return the module and the name under which a program calls a function."""
    name = getattr(function, "__name__", "")
    return next(((space, name) for space in SPACES if getattr(space, name, None) is function), None)


def keywords_of(function: Any, count: int) -> Iterator[tuple[str, ...]]:
    """Yield names of a function's first parameters, of each of its overloads."""
    try:
        known = [tuple(inspect.signature(function).parameters)]
    except ValueError:
        known = parameters[function.__name__.rpartition(".")[2]]
    yield from dict.fromkeys(names[:count] for names in known if len(names) >= count)


def ways(op: Any, count: int) -> Iterator[tuple[str, Call]]:
    """Yield how a program may call an operator: the function is looked up at the call."""
    place = place_of(op.op)
    if place is None:
        yield "by position", lambda input, args, kwargs: op.op(input, *args, **kwargs)
    else:
        space, name = place
        yield "by position", lambda input, args, kwargs: getattr(space, name)(input, *args, **kwargs)
        for names in keywords_of(op.op, count):

            def named(input: Any, args: Any, kwargs: Any, names: Any = names) -> Any:
                return getattr(space, name)(**dict(zip(names, (input, *args), strict=True)), **kwargs)

            yield f"by keyword {','.join(names)}", named
    method = getattr(op.method_variant, "__name__", "")
    if method and getattr(torch.Tensor, method, None) is op.method_variant:
        yield "as a method", lambda input, args, kwargs: getattr(input, method)(*args, **kwargs)
        for names in dict.fromkeys(known[1:count] for known in parameters[method] if len(known) >= count > 1):

            def spoken(input: Any, args: Any, kwargs: Any, names: Any = names) -> Any:
                return getattr(input, method)(**dict(zip(names, args, strict=True)), **kwargs)

            yield f"as a method by keyword {','.join(names)}", spoken


def traced(call: Call) -> Call:
    """Return the call recorded by `torch.jit.trace`, with all tensors as the trace's inputs."""

    def run(input: Any, args: Any, kwargs: Any) -> Any:
        flat, tree = tree_flatten((input, args, kwargs))
        places = [place for place, item in enumerate(flat) if isinstance(item, torch.Tensor)]

        def recorded(*tensors: Any) -> Any:
            filled = list(flat)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            return call(*tree_unflatten(filled, tree))

        tensors = tuple(flat[place] for place in places)
        trace = torch.jit.trace(recorded, tensors, check_trace=False)
        torch.manual_seed(0)
        return trace(*tensors)

    return run


def outcome(call: Call, made: Any) -> tuple[Any, str]:
    torch.manual_seed(0)
    try:
        return call(*made), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def calls(op: Any) -> Iterator[tuple[str, Call, Any]]:
    for sample in comparing.samples(op, torch.float32, False, MOST):
        for way, call in ways(op, 1 + len(sample.args)):
            yield way, call, sample
            if isinstance(sample.input, torch.Tensor):
                yield f"traced {way}", traced(call), sample


step, _, first = (sys.argv[1] if len(sys.argv) > 1 else "1").partition("/")
chosen = [op for op in op_db if torch.float32 in op.dtypes and not op.name.startswith(APART)][
    int(first or 0) :: int(step)
]
plain = [
    (op, *each, outcome(each[1], comparing.arguments(op, each[2], False, "cpu"))) for op in chosen for each in calls(op)
]
world.enter("simulated", 2)
differences: dict[str, str] = {}
counts: Counter[str] = Counter()
for op, way, call, sample, (value, failed) in plain:
    other, failed_other = outcome(call, comparing.arguments(op, sample, False, "cuda:0"))
    if failed and failed_other:
        counts["refused by both"] += 1
        continue
    counts[" ".join(word for word in way.split() if word in WAYS)] += 1
    if failed or failed_other:
        text = f"CPU: {failed or 'ok'}; GPU: {failed_other or 'ok'}"[:400]
    else:
        if op.name in comparing.ORDERED_BY_CUDA:
            value, other = comparing.in_order(value), comparing.in_order(other)
        text = comparing.difference(value, other, op.name not in comparing.RANDOM_CONTENTS, close=True)
    if text:
        differences.setdefault(f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name} {way}", text)
print(json.dumps({"counts": counts, "differences": differences}))
