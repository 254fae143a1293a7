"""Match an expression against templates, and write others by what their metavariables stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import libcst as cst

from devfix.source.templates import Bindings, Template


@dataclass(frozen=True)
class Match:
    """The nodes of an expression for which the metavariables of a template stand.

    `found["X"]` is the expression for `$X`; `fill` writes another one by a template, also with `$$$X`.

    >>> found = match(expression("loss.to('cuda', torch.half)"), "$X.to($DEVICE, $$$MORE)")
    >>> code(found["X"]), code(found.fill("$X.cpu($$$MORE)"))
    ('loss', 'loss.cpu(torch.half)')
    """

    bound: Bindings

    def __getitem__(self, name: str) -> cst.BaseExpression:
        """Return the expression for which a metavariable with one `$` stands."""
        found = self.bound[name]
        assert isinstance(found, cst.BaseExpression), f"${name} stands for several nodes"
        return found

    def fill(self, template: str) -> cst.BaseExpression:
        """Return the expression of a template in which the metavariables are replaced."""
        return _template(template).fill(self.bound)


def match(node: cst.CSTNode | None, *templates: str) -> Match | None:
    """Return the match of the first template that a node matches; None if there is none.

    In a template `$NAME` stands for one expression, `$$$NAME` for any number of arguments or elements, `$_` and `$$$`
    for what does not matter. Quotation marks, spaces and parentheses are ignored.

    >>> found = match(expression("model.to('cpu')"), "$X.cpu()", '$X.to("cpu")')
    >>> code(found["X"]), match(expression("model.cuda()"), "$X.cpu()") is None
    ('model', True)
    """
    for each in templates if node is not None else ():
        bound = _template(each).match(node) if node is not None else None
        if bound is not None:
            return Match(bound)
    return None


@cache
def _template(text: str) -> Template:
    return Template(text)
