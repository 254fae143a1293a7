"""Ask each function that can be overridden what its handler hears of, before the world is entered and in it."""

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import get_testing_overrides, resolve_name
from torch.testing._internal.generated.annotated_fn_args import annotated_args

from devfix.probe.simulation import patching, world

warnings.filterwarnings("ignore")
heard: list[Any] = []
STREAM = torch.Stream(device="cpu")


class Listener(torch.Tensor):
    """A tensor whose handler notes what it is asked, and gives a number."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        heard.append(func)
        return -1


NUMBERS = {"Scalar": 0.5, "bool": False, "int64_t": 0, "SymInt": 1, "double": 0.5, "ScalarType": torch.float32}
WORDS = {"c10::string_view": "a", "Device": torch.device("cpu"), "Layout": torch.strided, "Stream": None}


def argument(kind: str, tensor: Any) -> Any:
    """A value for an argument of this type."""
    kind = kind.rstrip("?")
    if kind == "Tensor" or kind.startswith("Generator"):
        return tensor if kind == "Tensor" else None
    if "List" in kind or kind.endswith("Ref") or "Array" in kind:
        return [tensor, tensor] if "Tensor" in kind else [False] if "bool" in kind.lower() else [1, 1]
    return NUMBERS.get(kind, WORDS.get(kind))


def calls(func: Any, dummy: Any, tensor: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments to try: those of the generated table, those of each signature, else as many tensors as needed."""
    names = [annotated_args[key] for key in (func,) if key in annotated_args]
    for listed in names:
        given = [(each["name"], each["is_kwarg_only"], argument(each["simple_type"], tensor)) for each in listed]
        yield (
            tuple(value for _, named, value in given if named == "False"),
            {name: value for name, named, value in given if named == "True"},
        )
    for count in (dummy.__code__.co_argcount - len(dummy.__defaults__ or ()), 1, 2, 3):
        yield (tensor,) * count, {}
    yield (tensor, 1), {}
    yield (tensor, 1, 1), {}
    yield ([tensor, tensor],), {}
    yield ("a,a->a", tensor, tensor), {}
    yield (tensor, tensor), {"upper": True}
    yield (tensor, STREAM), {}


def first_heard(func: Any, tried: Any) -> Any:
    """The function of which the handler hears first, itself where it ever does; None where it hears of none."""
    first = None
    for arguments, keywords in tried:
        heard.clear()
        with contextlib.suppress(Exception):  # other arguments are tried
            func(*arguments, **keywords)
        if heard and heard[0] == func:
            return heard[0]
        first = heard[0] if heard and first is None else first
    return first


def found(name: str) -> Any:
    """What stands at a dotted name now."""
    thing: Any = torch
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


def outside() -> dict[str, tuple[str, Any, Any]]:
    """For each name the name of what arrives in PyTorch as it is: its own, or that of the method behind a sign."""
    table = {}
    names = {id(func): resolve_name(func) for func in get_testing_overrides()}
    tensor = torch.ones(1).as_subclass(Listener)
    for func, dummy in get_testing_overrides().items():
        name = resolve_name(func)
        if not name:
            continue
        arrived = first_heard(func, calls(func, dummy, tensor))
        if arrived is func or (name.endswith("__get__") and arrived == func):
            table[name] = (name, func, dummy)
        elif name.startswith("torch.Tensor.__") and id(arrived) in names:
            table[name] = (names[id(arrived)], func, dummy)
    return table


def replaced() -> set[str]:
    """The dotted names of what the probe has replaced."""
    names = set()
    for owner, name in patching.replaced_attributes():
        path = "torch.Tensor" if owner is torch.Tensor else getattr(owner, "__name__", "")
        names |= {f"{path}.{name}", f"{path}.{name}.__get__"}
    return names


if __name__ == "__main__":
    table = outside()
    unheard = {resolve_name(func) for func in get_testing_overrides()} - table.keys()
    world.enter("simulated", 1)
    wrong = {}
    for name, (told, func, dummy) in table.items():
        for where in ("cpu", "cuda"):
            tensor = torch.ones(1, device=where).as_subclass(Listener)
            now = first_heard(found(name), calls(func, dummy, tensor))
            # The getter of an attribute is a new object each time.
            if now is not found(told) and (not name.endswith("__get__") or now != found(name)):
                wrong[f"{name} on {where}"] = f"{now!r} arrives, not {told}"
    changed = replaced()
    before = {name: found(name) for name in changed & table.keys() if not name.endswith("__get__")}
    world.enter("simulated", 2)
    other = sorted(name for name, thing in before.items() if found(name) is not thing)
    world.leave()
    left = sorted(name for name, (_, func, _) in table.items() if found(name) is not func and found(name) != func)
    print(json.dumps({"wrong": wrong, "tried": len(table), "changed": len(table.keys() & changed),
                      "other": other, "left": left,
                      "untried": sorted(name for name in unheard & changed if name)}))  # fmt: skip
    sys.exit(0)
