"""The Python files of a repository for static checks: parsed on demand, with edits applied."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from devfix.model import ScopeVariable
from devfix.notebooks.notebook import line_in_cell

_LINE = re.compile(r"(?P<path>[^\s`]+\.ipynb):(?P<line>\d+)")
FILES = 200  # at most, parsed for one question
MOST = 500  # names; a class that is mentioned everywhere may be anywhere
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
InFunction = tuple[str, Function | None, ast.AST]

_MARKS = ast.expr_context | ast.operator | ast.unaryop | ast.cmpop | ast.boolop
Answer = TypeVar("Answer")


class Code:
    """The files of a repository, some of them changed."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        read: Callable[[str], bytes | None],
        containing: Callable[[Sequence[str]], Iterable[str]],
        parsed: dict[tuple[str, bytes], ast.Module | None] | None = None,
    ) -> None:
        """Take changed contents, a function that reads other files, and one that searches files for texts.

        `parsed` keeps what was parsed for the next one: candidates differ in few files of hundreds.
        """
        self._files, self._read, self._containing = files, read, containing
        self._parsed = {} if parsed is None else parsed
        self._trees: dict[str, ast.Module | None] = {}
        self._families: dict[str, frozenset[str]] = {}
        self._calling: dict[str, dict[str, list[Function]]] = {}

    def trees(self, *texts: str) -> Iterator[tuple[str, ast.Module]]:
        """Yield the path and the syntax tree of each Python file that contains one of some texts."""
        found = {path for path in self._containing(texts) if path.endswith((".py", ".ipynb"))}
        found |= {path for path, data in self._files.items() if any(text.encode() in data for text in texts)}
        for path in sorted(found)[:FILES]:
            tree = self.tree(path)
            if tree is not None:
                yield path, tree

    def callers(self, function: Function) -> Iterator[tuple[str, Function]]:
        """Yield the functions that call one of a function's name, and the modules that do, each with its file."""
        text = f".{function.name}(" if is_method(function) else f"{function.name}("
        for path, tree in self.trees(text):
            if path not in self._calling:
                self._calling[path] = _calling(tree)
            yield from ((path, each) for each in self._calling[path].get(function.name, ()))

    def committed_tree(self, path: str) -> ast.Module | None:
        """Return the syntax tree of a file as it is in the repository, without the changes; None if it has none."""
        return self._parse(path, self._read(path))

    def tree(self, path: str) -> ast.Module | None:
        """Return the syntax tree of a file, with the changes; None if it has none."""
        if path not in self._trees:
            self._trees[path] = self._parse(path, self._files.get(path) or self._read(path))
        return self._trees[path]

    def _parse(self, path: str, data: bytes | None) -> ast.Module | None:
        if data is None:
            return None
        if (path, data) not in self._parsed:
            try:
                self._parsed[path, data] = ast.parse(data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._parsed[path, data] = None
        return self._parsed[path, data]

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file, with the changes."""
        data = self._files.get(path) or self._read(path) or b""
        return data.decode("utf-8", "replace").splitlines()

    def in_cells(self, text: str) -> str:
        """Return a text in which lines of notebooks are those of their cells: "ch02.ipynb[cell 7]:3"."""

        def named(found: re.Match[str]) -> str:
            data = self._files.get(found["path"]) or self._read(found["path"])
            return line_in_cell(found["path"], int(found["line"]), data) if data else found[0]

        return _LINE.sub(named, text)

    def family(self, name: str) -> frozenset[str]:
        """Return the names of a class and of all classes that derive from it."""
        if name not in self._families:
            found, more = {name}, {name}
            while more:
                trees = [tree for _, tree in self.trees(*found)]
                derived = (each for tree in trees for each in classes(tree) if not found.isdisjoint(base_names(each)))
                more = {each.name for each in derived} - found
                found |= more
            self._families[name] = frozenset(found)
        return self._families[name]

    def ancestors(self, name: str) -> frozenset[str]:
        """Return the names of the classes of the repository from which a class derives."""
        found: set[str] = set()
        wanted = {name}
        while wanted:
            bases = {
                base
                for _, tree in self.trees(*(f"class {each}" for each in wanted))
                for node in classes(tree)
                if node.name in wanted
                for base in base_names(node)
            }
            wanted = bases - found - {name}
            found |= wanted
        return frozenset(found)


def keep_answers(compute: Callable[[ast.AST], Answer]) -> Callable[[ast.AST], Answer]:
    """Return a function that computes its answer once for each tree, as long as there is the tree.

    The checks of one buffer ask the same of 300 files hundreds of times.
    """
    answers: WeakKeyDictionary[ast.AST, Answer] = WeakKeyDictionary()

    @wraps(compute)
    def ask(tree: ast.AST) -> Answer:
        if tree not in answers:
            answers[tree] = compute(tree)
        return answers[tree]

    return ask


@keep_answers
def functions(tree: ast.AST) -> Sequence[InFunction]:
    """Return each node of a tree with the name of its class ("" if none) and its function (None if none).

    Operators, and contexts such as Load, are left out.
    """
    return list(_walk(tree))


@keep_answers
def classes(tree: ast.AST) -> Sequence[ast.ClassDef]:
    """Return the classes of a tree, also those inside of functions and classes."""
    return [node for _, _, node in functions(tree) if isinstance(node, ast.ClassDef)]


@keep_answers
def assigned_values(tree: ast.AST) -> Mapping[str, Sequence[ast.expr]]:
    """Return what a tree assigns to each plain name."""
    found: dict[str, list[ast.expr]] = {}
    for each in (node for node in ast.walk(tree) if isinstance(node, ast.Assign)):
        for target in each.targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(each.value)
    return found


def _walk(tree: ast.AST) -> Iterator[InFunction]:
    waiting: list[InFunction] = [("", None, tree)]
    while waiting:
        owner, function, node = waiting.pop()
        if node is not tree:
            yield owner, function, node
        if isinstance(node, ast.ClassDef):
            owner, function = node.name, None
        elif isinstance(node, Function):
            function = node
        inside = [each for each in ast.iter_child_nodes(node) if not isinstance(each, _MARKS)]
        waiting.extend((owner, function, child) for child in reversed(inside))


def as_function(tree: ast.Module) -> Function:
    """Return a module's top level as if it were a function, so that its names can be looked up."""
    plain = [each for each in tree.body if not isinstance(each, Definition)]
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name="<module>", args=arguments, body=plain or [ast.Pass()], decorator_list=[])


def is_method(function: Function) -> bool:
    """Return whether a function is called on an object or a class, as the name of its first parameter says."""
    given = [*function.args.posonlyargs, *function.args.args]
    return bool(given) and given[0].arg in ("self", "cls")


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name; "" for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def called_name(node: ast.AST | None) -> str:
    """Return the last part of the name by which a function is called; "" if it has none, or the node is no call."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def base_names(node: ast.ClassDef) -> list[str]:
    """Return the last parts of the names of a class's bases, of generic ones without their arguments."""
    return [last_name(each.value if isinstance(each, ast.Subscript) else each) for each in node.bases]


def _calling(tree: ast.Module) -> dict[str, list[Function]]:
    """Return the functions of a file, and its top level, by the names of what they call."""
    found: dict[str, list[Function]] = {}
    for function in (as_function(tree), *(each for _, _, each in functions(tree) if isinstance(each, Function))):
        for name in {called_name(each) for each in ast.walk(function) if isinstance(each, ast.Call)}:
            found.setdefault(name, []).append(function)
    return found


def instances(tree: ast.Module, family: frozenset[str]) -> frozenset[str]:
    """Return the expressions to which a file assigns an object of one of the classes, with or without `.to(…)`."""
    found: set[str] = set()
    for _, _, node in functions(tree):
        if isinstance(node, ast.Assign):
            value: ast.expr = node.value
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                if value.func.attr in family:
                    break
                value = value.func.value
            called = called_name(value)
            if called in family:
                found.update(ast.unparse(target) for target in node.targets)
    return frozenset(found)


def module_of(path: str) -> str:
    """Return the last part of a module's name: "models" for "acme/models.py" and for "acme/models/__init__.py"."""
    return path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]


def containing(family: frozenset[str], code: Code) -> frozenset[str]:
    """Return some classes, and all classes and functions of the repository that mention one of them, or one of those.

    >>> files = {"m.py": b"class A: pass\\ndef make(): return [A()]\\nclass B:\\n    a = make()\\nclass C: pass\\n"}
    >>> sorted(containing(frozenset({"A"}), Code(files, files.get, lambda texts: list(files))))
    ['A', 'B', 'make']
    """
    found, new = set(family), set(family)
    while new and len(found) < MOST:
        new = {
            node.name
            for _, tree in code.trees(*new)
            for node in tree.body
            if isinstance(node, Definition) and node.name not in found and mentions(node, found)
        }
        found |= new
    return frozenset(found)


def may_contain(module: ScopeVariable, scope: Sequence[ScopeVariable], holding: frozenset[str]) -> bool:
    """Return whether a module in scope, or a part of it there, is of one of some classes, or it is one of PyTorch's."""
    within = [each for each in scope if each.expression.startswith(f"{module.expression}.")]
    classes = {name.rpartition(".")[2] for each in (module, *within) for name in each.classes}
    return module.kind == "module" and (not module.classes or bool(classes & holding))


def new_modules(tree: ast.Module, holding: frozenset[str]) -> dict[str, bool]:
    """Return the names to which a file assigns a new module, moved or not, and whether that may hold the buffer."""
    made: dict[str, bool] = {}
    for _, _, node in functions(tree):
        if isinstance(node, ast.Assign) and is_new_module(node.value):
            known = holding | {name for name, holds in made.items() if holds}
            for target in node.targets:
                name = ast.unparse(target)
                made[name] = made.get(name, False) or mentions(node.value, known)
    return made


def may_hold(receiver: ast.expr, made: dict[str, bool], holding: frozenset[str]) -> bool:
    """Return whether an expression may be a module that holds one of some classes; `made` has a file's new modules."""
    return mentions(receiver, holding) if is_new_module(receiver) else made.get(ast.unparse(receiver), True)


def is_new_module(value: ast.expr) -> bool:
    """Return whether an expression is a call of a class, followed by calls like `.to(device)`."""
    while isinstance(value, ast.Call):
        called = called_name(value)
        if isinstance(value.func, ast.Name) or called[:1].isupper():
            return called[:1].isupper()
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    return False


def mentions(node: ast.AST, names: set[str] | frozenset[str]) -> bool:
    """Return whether code mentions one of some names, by itself or as the last part of a longer one."""
    return any(
        (isinstance(each, ast.Name) and each.id in names) or (isinstance(each, ast.Attribute) and each.attr in names)
        for each in ast.walk(node)
    )
