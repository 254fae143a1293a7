"""Python code as text."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

import libcst as cst

from devfix.notebooks.notebook import cell_name, is_notebook, split_script

_NOWHERE = cst.Module([])  # provides the default style for nodes that are in no file


def code(node: cst.CSTNode) -> str:
    """Return the text of a node that is in no file; `File.code` returns that of one in a file.

    >>> code(cst.Name("device"))
    'device'
    """
    return _NOWHERE.code_for_node(node)


def normalize(code: str) -> str:
    """Code without the spaces that do not matter for comparing two expressions."""
    return re.sub(r"\s+", "", code).replace('"', "'")


def last_name(node: cst.CSTNode) -> str:
    """The last part of a dotted name: "zeros" of `torch.zeros`; "" where it is no name."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


@lru_cache(maxsize=128)  # a change is checked where it is made and again where it is proposed: 10 ms each for 500 lines
def check_syntax(path: str, data: bytes) -> None:
    """Raise SyntaxError or ValueError if a file would not compile; each cell of a notebook is compiled by itself."""
    if not is_notebook(path):
        compile(data, path, "exec", dont_inherit=True)
        return
    for number, code in split_script(data):
        name = cell_name(path, number)
        compile(code, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def first_difference(before: bytes, after: bytes) -> int:
    """The first line, from 1, in which two texts differ."""
    old, new = before.splitlines(), after.splitlines()
    same = next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return same + 1
