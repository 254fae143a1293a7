"""Find the test that decides whether a function computes again what it keeps for later calls."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devfix.source import File
from devfix.source.queries.reading import assigned_values, assignments, parameters
from devfix.source.queries.writes import is_written


@dataclass(frozen=True)
class GuardedCache:
    """A value that a function keeps in a name or attribute: `if self.table is None: self.table = value`.

    `body` is the code that computes it. If `returns`, the function returns what is kept where the test holds; else it
    computes it there.

    >>> file = File("m.py", b"def f(self, x):\\n    if self.t is None:\\n        self.t = g(x)\\n    return self.t\\n")
    >>> function = file.module.body[0]
    >>> kept = guarded_cache(file, function, assignments(file, "self.t", function)[0], "self.t")
    >>> file.code(kept.test), kept.returns, kept.is_total
    ('self.t is None', False, False)
    """

    file: File
    name: str
    test: cst.BaseExpression
    body: cst.BaseSuite
    returns: bool

    @property
    def is_total(self) -> bool:
        """Return whether code changes what is kept, after it was computed: computed again, it would lose that.

        It writes into it, computes the next value from it (`self.mean = self.mean + x`), or sets it from outside.
        """
        scope = self.file.class_of(self.test) or self.file.module
        others = assignments(self.file, self.name, scope)
        return is_written(self.file, scope, self.name, except_in=self.body) or any(map(self._replaces, others))

    def _replaces(self, assigned: cst.Assign | cst.AnnAssign) -> bool:
        """Return whether an assignment is neither that of the cache, nor one of the constructor or of a constant."""
        function, value = self.file.function_of(assigned), assigned.value
        if value is None or self.body in self.file.ancestors(assigned):
            return False
        if function is self.file.function_of(self.test):
            return bool(self.file.find(value, self.name))
        is_first = function is not None and function.name.value in ("__init__", "__new__", "__post_init__")
        is_given = function is not None and any(self.file.find(value, each) for each in parameters(function)[1:])
        return is_given and not is_first


def guarded_cache(
    file: File, function: cst.FunctionDef, assigned: cst.Assign | cst.AnnAssign, name: str
) -> GuardedCache | None:
    """Return what a function keeps in a name by an assignment; None if no test guards it.

    The test is that of the `if` around the assignment, or of one before it that returns what is kept. It asks for what
    is kept, or whether what it was computed for has changed: `if n != self.n: self.n, self.table = n, g(n)`.

    >>> text = b"def f(x):\\n    global t\\n    if t is not None:\\n        return t\\n    t = g(x)\\n    return t\\n"
    >>> file = File("m.py", text)
    >>> function = file.module.body[0]
    >>> kept = guarded_cache(file, function, assignments(file, "t", function)[0], "t")
    >>> file.code(kept.test), kept.returns
    ('t is not None', True)
    """
    around = next((each for each in file.ancestors(assigned) if isinstance(each, cst.If)), None)
    if around is not None:
        is_guard = _asks_for(file, around.test, name) or _asks_for_key(file, around)
        return GuardedCache(file, name, around.test, around.body, returns=False) if is_guard else None
    for each in file.within(function, cst.If):
        is_before = file.line_of(each) < file.line_of(assigned) and each.orelse is None
        if is_before and _returns_kept(file, each.body, name) and _asks_for(file, each.test, name):
            return GuardedCache(file, name, each.test, function.body, returns=True)
    return None


def _asks_for(file: File, test: cst.BaseExpression, name: str) -> bool:
    """Return whether a test names what is kept, also as `hasattr(self, "table")` does."""
    holder, _, attribute = name.rpartition(".")
    asks = [name, *(f"hasattr({holder}, {quote}{attribute}{quote})" for quote in "'\"" if holder)]
    return any(file.find(test, each) for each in asks)


def _asks_for_key(file: File, guard: cst.If) -> bool:
    """Return whether a test compares something with an attribute that the code below it then sets to that."""
    for each in file.within(guard.test, cst.Comparison):
        sides = [file.code(each.left), *(file.code(other.comparator) for other in each.comparisons)]
        is_unequal = len(sides) == 2 and isinstance(each.comparisons[0].operator, cst.NotEqual | cst.IsNot)
        for kept, given in (sides, sides[::-1]) if is_unequal else ():
            values = assigned_values(file, kept, guard.body) if "." in kept else []
            if any(file.code(value) == given for value in values):
                return True
    return False


def _returns_kept(file: File, body: cst.BaseSuite, name: str) -> bool:
    """Return whether code returns what is kept, and changes nothing of it before."""
    returned = [each.value for each in file.within(body, cst.Return) if each.value is not None]
    is_changed = is_written(file, body, name) or assignments(file, name, body)
    return any(file.find(each, name) for each in returned) and not is_changed
