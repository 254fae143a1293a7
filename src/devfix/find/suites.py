"""List what can be lifted in a repository: tests, examples in docstrings, scripts in `examples/`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from devfix.discovery.test_files import SCRIPTS, TEST, TEST_FOLDER, is_test_file
from devfix.errors import UserError

_DEFINES_TESTS = re.compile(rb"^class \w+\([^)]*TestCase\):|^(class Test\w*|def test_\w+)\b", re.MULTILINE)
_PROMPT, _TORCH = b">>> ", b"torch"
_KEEPS = re.compile(
    rb"(?im)cache|memo|hasattr\(|not in self\.|\bglobal |Module\):|is None[^\n]*:\s*\n\s*\w+\.|"
    rb"except (?:KeyError|AttributeError)|"  # of what is kept in a dictionary, or as an attribute
    rb"^(?:\w+(?:\s*:[^=\n]+)?|def [^\n]*)\s*=\s*(?:\{\}|\[\]|(?:\w+\.)?\w*(?:dict|dictionary|list)\()"
)
_ACTING = (ast.Expr, ast.If, ast.For, ast.While, ast.With, ast.Try)  # statements of a script, beside assignments


class SuiteKind(str, Enum):
    """A kind of suite; the value is its name for users."""

    tests = "tests"
    examples = "examples"  # of docstrings
    scripts = "scripts"

    @property
    def options(self) -> tuple[str, ...]:
        """The options with which pytest collects it."""
        return _OPTIONS[self]

    @property
    def weight(self) -> int:
        """The weight of a suite of this kind when the time is shared."""
        return _WEIGHTS[self]


# Most repositories have far more tests than examples, and few scripts that run by themselves.
_WEIGHTS = {SuiteKind.tests: 6, SuiteKind.examples: 2, SuiteKind.scripts: 1}

_OPTIONS = {
    SuiteKind.tests: (),
    SuiteKind.examples: ("--doctest-modules", "--doctest-ignore-import-errors", "--lift-any-output"),
    SuiteKind.scripts: ("--lift-scripts",),
}


@dataclass(frozen=True)
class Suite:
    """Arguments of one pytest run."""

    kind: SuiteKind
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name for users."""
        return self.kind.value


def suites(
    tracked: Sequence[str], content: Callable[[str], bytes], below: str, select: Sequence[str] = ()
) -> list[Suite]:
    """Return the runs for the files of a repository below a folder ("" for all), tests first.

    `select` are globs of tests: what is in no folder that one of them names is not even collected. Raises UserError
    where there is nothing that could be run.
    """
    places = _places(tracked, select) or ([below] if below else [])
    files = sorted(path for path in tracked if not places or any(_is_below(path, place) for place in places))
    found = []
    if tests := [path for path in files if TEST.search(path)]:
        holding = [place for place in places if any(_is_below(path, place) for path in tests)]
        found.append(Suite(SuiteKind.tests, tuple(holding)))
    elif unusual := [path for path in files if TEST_FOLDER.search(path) and _has_tests(path, content)]:
        found.append(Suite(SuiteKind.tests, tuple(unusual)))  # pytest collects any file that is named to it
    examples = [path for path in files if _has_examples(path, content)]
    if examples:
        found.append(Suite(SuiteKind.examples, (*SuiteKind.examples.options, *examples)))
    scripts = [path for path in files if _is_script(path, content)]
    if scripts:
        found.append(Suite(SuiteKind.scripts, (*SuiteKind.scripts.options, *scripts)))
    if not found:
        where = ", ".join(places) or "this repository"
        raise UserError(
            f"{where} has no tests, no docstring examples and no scripts in examples/ that use torch; run instead: "
            'devfix repair . --run "python your_script.py"'
        )
    return found


def from_root(globs: Sequence[str], below: str, tracked: Sequence[str]) -> tuple[str, ...]:
    """Return globs of tests as they are said at the root of the repository, for those said in a folder `below` it."""
    found = []
    for glob in globs:
        first = glob.partition("::")[0].partition("/")[0]
        is_below = below and any(_is_below(path, f"{below}/{first}") for path in tracked)
        found.append(f"{below}/{glob}" if is_below and not any(_is_below(path, first) for path in tracked) else glob)
    return tuple(found)


def _has_tests(path: str, content: Callable[[str], bytes]) -> bool:
    return path.endswith(".py") and _DEFINES_TESTS.search(content(path)) is not None


def _places(tracked: Sequence[str], select: Sequence[str]) -> list[str]:
    """Return the folders and files that globs begin with; none where one of them could match anything."""
    known = {"/".join(path.split("/")[:end]) for path in tracked for end in range(1, path.count("/") + 2)}
    places = []
    for glob in select:
        path = glob.partition("::")[0].rstrip("/")
        while path and path not in known:
            path = path.rpartition("/")[0]
        if not path:
            return []
        places.append(path)
    return [
        place for place in dict.fromkeys(places) if not any(_is_below(place, each) for each in places if each != place)
    ]


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def may_keep_tensors(tracked: Sequence[str], content: Callable[[str], bytes]) -> bool:
    """Return whether the code under test has modules, or seems to keep something else from one call to the next."""
    paths = (path for path in tracked if path.endswith(".py") and not is_test_file(path))
    return any(_TORCH in text and _KEEPS.search(text) for text in map(content, paths))


def _has_examples(path: str, content: Callable[[str], bytes]) -> bool:
    if not path.endswith(".py") or is_test_file(path):
        return False
    if PurePosixPath(path).name == "setup.py" or path.startswith("docs/"):
        return False
    text = content(path)
    return _PROMPT in text and _TORCH in text


def _is_script(path: str, content: Callable[[str], bytes]) -> bool:
    """Return whether a file in `examples/` does something when it is run, and has to do with torch."""
    if not SCRIPTS.match(path) or not path.endswith(".py") or TEST.search(path):
        return False
    if PurePosixPath(path).name in ("__init__.py", "conftest.py", "setup.py") or _TORCH not in (text := content(path)):
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(each, _ACTING) and not _is_text(each) for each in body) or _assigns_results(body)


def _assigns_results(body: Sequence[ast.stmt]) -> bool:
    """Return whether an assignment calls what the file itself has made, as in `model = Net(4)`, then `y = model(x)`.

    A README's examples often end so. A module of definitions and constants (`device = torch.device("cuda")`) does not.
    """
    made: set[str] = set()
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.add(statement.name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            if any(isinstance(each, ast.Call) and _first_name(each.func) in made for each in ast.walk(statement)):
                return True
            names = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
            made |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return False


def _first_name(function: ast.expr) -> str:
    """Return the name that a called expression begins with, such as "model" of `model.encoder(x)`, or ""."""
    while isinstance(function, (ast.Attribute, ast.Call, ast.Subscript)):
        function = function.func if isinstance(function, ast.Call) else function.value
    return function.id if isinstance(function, ast.Name) else ""


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
