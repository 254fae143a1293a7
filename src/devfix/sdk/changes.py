"""What a rule yields: a change, made of edits to files."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devfix.model import Edit
from devfix.source import File

SAFETIES = ("safe", "likely", "unsure")


@dataclass(frozen=True)
class Change:
    """A candidate edit.

    `title` says in the imperative what it does; `because` adds to the blame's reason where the place of the edit needs
    one. `safety` is "safe" (it holds, and cannot change what a correct run computes), "likely" (it holds, and changes
    nothing that counts), or "unsure" (a guess: only a run can say whether it holds). One that is `joint` moves other
    tensors than the one that failed as well, and is not kept where the next failure is one of theirs.
    """

    title: str
    safety: str
    edits: tuple[Edit, ...]
    reason: str = ""
    joint: bool = False


def change(file: File, module: cst.Module | None, title: str, safety: str = "safe", reason: str = "") -> Change | None:
    """The change from `file` to `module`; None where nothing changes or the result would not compile.

    >>> file = File("m.py", b"y = torch.zeros(3)\\n")
    >>> call = file.find(file.module, "torch.zeros(3)")[0]
    >>> made = change(file, file.replaced({call: add_keyword(call, "device", "x.device")}), "Give it a device")
    >>> made.edits[0].after
    b'y = torch.zeros(3, device=x.device)\\n'
    """
    edit = None if module is None else file.edit(module)
    return None if edit is None else Change(title, safety, (edit,), reason)


def joined(title: str, *changes: Change | None) -> Change | None:
    """Changes of different files as one, as safe as the least safe; None where one is missing or two edit one file.

    >>> files = [File(name, b"model.cuda()\\n") for name in ("a.py", "b.py")]
    >>> each = [change(file, cst.parse_module("model.to(device)\\n"), "…") for file in files]
    >>> [edit.path for edit in joined("Move the model to `device`", *each).edits]
    ['a.py', 'b.py']
    >>> joined("Twice", each[0], each[0]) is None
    True
    """
    found = [each for each in changes if each is not None]
    edits = tuple(edit for each in found for edit in each.edits)
    if len(found) < len(changes) or not edits or len({edit.path for edit in edits}) < len(edits):
        return None
    reason = " ".join(dict.fromkeys(each.reason for each in found if each.reason))
    return Change(title, max((each.safety for each in found), key=SAFETIES.index), edits, reason)
