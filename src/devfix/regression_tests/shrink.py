"""Shrink a call: reduce sizes that nothing else depends on, and drop gradients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from devfix.model import Call, Recipe

_SMALL = 4  # sizes up to this are kept


def smaller(call: Call) -> Call | None:
    """Return the call with smaller tensors; None if they are small already.

    Computed tensors lose `requires_grad`: a leaf that requires a gradient cannot be written to.
    """
    every = [each.value for each in call.arguments] + ([call.instance] if call.instance else [])
    parts = [part for recipe in every for part in _parts(recipe)]
    fixed = {int(number) for part in parts if part.kind == "literal" for number in re.findall(r"\d+", part.text)}
    tensors = [part for part in parts if part.kind == "tensor"]
    sizes = {size for part in tensors if part.text != "values" for size in part.shape}
    written = {size for part in tensors if part.text in ("values", "arange") for size in part.shape}
    free = sorted(size for size in sizes if size > _SMALL and size not in fixed | written)
    taken = sizes | fixed
    table: dict[int, int] = {}
    for size in free:
        small = next(number for number in range(2, size + 1) if number not in taken or number == size)
        table[size] = small
        taken = taken | {small}
    if not any(size != small for size, small in table.items()) and not any(part.grad for part in parts):
        return None
    arguments = tuple(replace(each, value=_with(each.value, table)) for each in call.arguments)
    return replace(call, arguments=arguments, instance=_with(call.instance, table) if call.instance else None)


def _parts(recipe: Recipe) -> Iterator[Recipe]:
    yield recipe
    for part in (*recipe.items, *(value for _, value in recipe.keywords)):
        yield from _parts(part)


def _with(recipe: Recipe, table: Mapping[int, int]) -> Recipe:
    return replace(
        recipe,
        grad=False,
        shape=tuple(table.get(size, size) for size in recipe.shape) if recipe.text != "values" else recipe.shape,
        items=tuple(_with(item, table) for item in recipe.items),
        keywords=tuple((name, _with(value, table)) for name, value in recipe.keywords),
    )
