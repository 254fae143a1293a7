"""Rate expressions for a device: by the style of the file, and by how specific they are."""

from __future__ import annotations

import re

import libcst as cst

from devfix.source import File
from devfix.source.queries.bound_names import is_local
from devfix.source.text import last_name

PLAIN_BASES = ("object", "ABC", "Generic", "Protocol")  # which give a class no attributes
ELEMENT = re.compile(r"\[(-?\d+)\]")


def attribute_depth(text: str) -> float:
    """Return how deep an expression accesses its first name; elements of lists count more, since they may vary.

    >>> attribute_depth("x"), attribute_depth("self.head.weight"), attribute_depth("parts[0]")
    (0.0, 2.0, 3.0)
    """
    return text.count(".") + 3.0 * text.count("[")


def style_bonus(file: File, text: str, function: cst.FunctionDef | None = None) -> float:
    """Return the bonus of an expression by the file's style: 1.5 if the file already places tensors by it.

    A local variable of a function that is not placed by there is another one in other functions: 0.5.

    >>> file = File("m.py", b"def f(x):\\n    return g(x.to(self.device), y.to(x.device))\\ndef g(x, y): pass\\n")
    >>> style_bonus(file, "self.device"), style_bonus(file, "device")
    (1.5, 0.0)
    >>> [style_bonus(file, "x.device", definition(file, name)) for name in ("f", "g")]
    [1.5, 0.5]
    """
    uses = re.compile(r"(?:\.to\(|device\s*=\s*)" + re.escape(text) + r"\b")
    if not uses.search(file.text):
        return 0.0
    name = text.partition(".")[0]
    is_own = function is None or name in ("self", text) or not is_local(function, name)
    return 1.5 if is_own or (function is not None and uses.search(file.code(function))) else 0.5


def is_undeclared_attribute(file: File, text: str, node: cst.CSTNode | None = None) -> bool:
    """Return whether an expression is an attribute of `self` that the file never mentions: subclasses may lack it.

    In a class around `node` that derives from nothing, a mixin, the class itself has to mention it.

    >>> file = File("m.py", b"class Base:\\n    def run(self, x):\\n        return self.head(x)\\n")
    >>> [is_undeclared_attribute(file, text) for text in ("self.head.weight.device", "self.encoder.weight.device")]
    [False, True]
    """
    found = re.match(r"self\.\w+\b", text)
    owner = file.class_of(node) if node is not None else None
    bases = [each.value for each in owner.bases] if owner is not None else []
    names = [last_name(each.value if isinstance(each, cst.Subscript) else each) for each in bases]
    is_mixin = owner is not None and all(each in PLAIN_BASES for each in names)
    known = file.code(owner) if owner is not None and is_mixin else file.text
    return found is not None and not re.search(rf"\b{re.escape(found[0])}\b", known)


def is_ambiguous(file: File, text: str) -> bool:
    """Return whether an expression is the device in this run alone: a name to throw away, an element picked by number.

    Where the first element of a list is no tensor on the device, the second need not be one in another call.

    >>> file = File("m.py", b"y, _ = f(x)\\nz = boxes[1] * y\\n")
    >>> [is_ambiguous(file, text) for text in ("_.device", "x.device", "parts[0].device", "parts[1].device")]
    [True, False, False, True]
    >>> is_ambiguous(file, "next(_.parameters()).device")
    True
    >>> is_ambiguous(file, "boxes[1].device")
    False
    """
    root = text.removeprefix("next(").partition(".")[0]
    if not root.strip("_"):
        return True
    found = ELEMENT.search(text)
    return found is not None and found[1] not in ("0", "-1") and text[: found.end()] not in file.text
