"""What speaks against one replacement in a small network, beside other files of the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sample_report import failure, patch

from devfix.model import Edit, Failure, ModuleOwner, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code
from devfix.verification.objections.collect import objections

NET = """import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scale = torch.ones(4)

    def forward(self, x):
        return self.linear(x) * self.scale
"""
BUFFER = ("self.scale = torch.ones(4)", 'self.register_buffer("scale", torch.ones(4), persistent=False)')
LIST = NET.replace("torch.ones(4)", "[torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]")
HELPER = "def scaled(x, factor):\n    return x * factor\n"
MOVED = ("x * factor", "x * factor.to(x.device)")
MODULES = ("self.scale = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]", "self.scale = torch.nn.ModuleList([])")


def found(
    before: str,
    change: tuple[str, str],
    others: Mapping[str, str] | None = None,
    dtype: str = "torch.float32",
    scope: tuple[ScopeVariable, ...] = (),
    failed: Failure | None = None,
) -> list[Objection]:
    """What speaks against one replacement in net.py, beside other files of the repository; `scope` was seen there.

    The replacement is for `failed`; by default the network's `scale` met a tensor on another device.
    """
    assert before.count(change[0]) == 1
    after = before.replace(*change)
    files = {name: text.encode() for name, text in {"net.py": before, **(others or {})}.items()}

    def containing(texts: Sequence[str]) -> list[str]:
        return [path for path, data in files.items() if any(text.encode() in data for text in texts)]

    held = Operand(
        "other",
        "cpu",
        dtype,
        (4,),
        (NameRef(0, "self.scale"),),
        (),
        ModuleOwner("self", 0, "Net", "scale", "attribute"),
    )
    seen = SourceLocation("net.py", 1, "<module>")
    failed = failed or replace(failure(), operands=(held,), scopes=((seen, scope),) if scope else ())
    code = Code({"net.py": after.encode()}, files.get, containing)
    edit = Edit("net.py", 1, before.encode(), after.encode())
    return objections(replace(patch(), edits=(edit,)), failed, code)


def strengths(*arguments: object, **more: object) -> list[str]:
    return [each.strength for each in found(*arguments, **more)]  # type: ignore[arg-type]
