"""Warnings about code that does not fail: reported if a run confirms them, and never fixed."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devfix.source import File


@dataclass(frozen=True)
class CodeWarning:
    """A warning about a line, valid if `expression` is a torch.device when its function runs.

    `first` and `last` are the lines of that function, or of the file.

    >>> file = File("m.py", b"if model.device == 'cpu':\\n    model.cuda()\\n")
    >>> warning(file, file.find(file.module, "model.device")[0], "It is never equal.").line
    1
    """

    path: str
    line: int
    first: int
    last: int
    expression: str
    reason: str


def warning(file: File, node: cst.BaseExpression, reason: str) -> CodeWarning:
    """Return the warning about an expression of a file.

    >>> file = File("m.py", b"def f(x):\\n    return x.device == 'cpu'\\n")
    >>> warning(file, file.find(file.module, "x.device")[0], "It is never equal.").expression
    'x.device'
    """
    line = file.line_of(node)
    function = file.function_of(node)
    first = file.line_of(function) if function is not None else 1
    last = max(
        file.line_of(each) for each in file.within(function or file.module) if isinstance(each, cst.BaseExpression)
    )
    return CodeWarning(file.path, line, first, last, file.code(node), reason)
