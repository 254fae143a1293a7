"""Objections to modules, parameters and persistent buffers that a module did not register before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.members import registered_names


def of_modules(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to new entries of the state dict and to newly trained parameters."""
    if what.kind not in ("modules", "parameter") and not (what.kind == "buffer" and what.is_persistent):
        return
    for path, tree in code.trees("load_state_dict", "torch.save", "state_dict("):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "load_state_dict" and not _is_optimizer(node.func.value):
                strict = next((each.value for each in node.keywords if each.arg == "strict"), None)
                if not (isinstance(strict, ast.Constant) and strict.value is False):
                    problem = f"{path}:{node.lineno} loads a state dict strictly"
                    yield Objection(
                        "strong", f"{problem}: one saved earlier has no `{what.name}`, and cannot be loaded any more"
                    )
            elif node.func.attr == "state_dict" and not _is_optimizer(node.func.value):
                yield Objection(
                    "weak", f"{path}:{node.lineno} takes a state dict, in which `{what.name}` stands from now on"
                )
    if what.kind != "modules":
        return
    names = registered_names(what)
    for path, tree in code.trees(*names):
        for node in ast.walk(tree):
            if not isinstance(node, ast.With) or not any(_is_no_grad(item.context_expr) for item in node.items):
                continue
            uses = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in names]
            if uses:
                problem = f"{path}:{uses[0].lineno} uses `{uses[0].attr}` without gradients"
                yield Objection(
                    "strong", f"{problem}: it may be kept out of the parameters on purpose, and would be trained"
                )


def _is_optimizer(node: ast.expr) -> bool:
    text = ast.unparse(node).lower()
    return any(word in text for word in ("optim", "sched", "scaler", "opt"))


def _is_no_grad(node: ast.expr) -> bool:
    return any(word in ast.unparse(node) for word in ("no_grad", "inference_mode"))
