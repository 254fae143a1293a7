"""What a rule yields: a change, made of edits to files."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devfix.model import Edit
from devfix.source import File


@dataclass(frozen=True)
class Change:
    """A candidate edit.

    `title` says in the imperative what it does; `safety` is "safe" (cannot change what a correct run computes),
    "likely" or "unsure"; `because` adds to the blame's reason where the place of the edit needs one.
    """

    title: str
    safety: str
    edits: tuple[Edit, ...]
    because: str = ""


def change(file: File, module: cst.Module | None, title: str, safety: str = "safe", because: str = "") -> Change | None:
    """The change from `file` to `module`; None where nothing changes or the result would not compile.

    Example: `change(file, file.replaced({old: new}), "Give `torch.arange` the device of `x`")`.
    """
    edit = None if module is None else file.edit(module)
    return None if edit is None else Change(title, safety, (edit,), because)
