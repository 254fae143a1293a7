"""The dependencies that a repository declares: name, file and line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from devfix.dependencies.distributions import normalize_name


def requirement_lists(data: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the lists of requirements ("torch>=2"): the project's, its extras' and groups', and those of its build."""
    project, tool = _table(data, "project"), _table(data, "tool")
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lists += [*_table(data, "dependency-groups").values(), _table(data, "build-system").get("requires")]
    lists += [_table(tool, "uv").get("dev-dependencies"), *_table(_table(tool, "pdm"), "dev-dependencies").values()]
    yield from (each for each in lists if isinstance(each, list))


def version_tables(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of names and versions (`torch = "^2"`): Poetry's and a Pipfile's."""
    poetry = _table(_table(data, "tool"), "poetry")
    groups = [group for group in _table(poetry, "group").values() if isinstance(group, Mapping)]
    tables = [_table(each, "dependencies") for each in (poetry, *groups)]
    yield from (*tables, _table(poetry, "dev-dependencies"), _table(data, "packages"), _table(data, "dev-packages"))


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PLAIN = re.compile(r"(^|/)(requirements|constraints)[\w.-]*\.(txt|in)$|(^|/)requirements/[\w.-]+\.(txt|in)$")
_ENVIRONMENT = re.compile(r"(^|/)(conda|environment)[\w.-]*\.ya?ml$")
_PROJECT = re.compile(r"(^|/)(pyproject\.toml|Pipfile)$")
_SETUP = re.compile(r"(^|/)setup\.(py|cfg)$")
_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_LINE = re.compile(rf"\s*({_NAME})\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@#(]|$)")
_CONDA = re.compile(rf"\s*-\s+(?:[\w-]+::)?({_NAME})\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@#]|$)")
_QUOTED = re.compile(rf"[\"']({_NAME})\s*(?:\[[^\]\"']*\])?\s*(?:[<>=!~;@(][^\"'\n]*)?[\"']")
# Import names that differ from the distribution's name.
_IMPORTED_AS = {
    "attr": "attrs", "bs4": "beautifulsoup4", "Crypto": "pycryptodome", "cv2": "opencv-python",
    "dateutil": "python-dateutil", "docx": "python-docx", "dotenv": "python-dotenv", "faiss": "faiss-cpu",
    "fitz": "PyMuPDF", "git": "GitPython", "google": "protobuf", "hydra": "hydra-core", "jwt": "PyJWT",
    "Levenshtein": "python-Levenshtein", "mpl_toolkits": "matplotlib", "OpenGL": "PyOpenGL",
    "pkg_resources": "setuptools", "PIL": "Pillow", "serial": "pyserial", "skimage": "scikit-image",
    "sklearn": "scikit-learn", "umap": "umap-learn", "usb": "pyusb", "yaml": "PyYAML", "zmq": "pyzmq",
    "clip": "openai-clip", "ignite": "pytorch-ignite", "pl_bolts": "lightning-bolts", "whisper": "openai-whisper",
    "open_clip": "open-clip-torch", "pyro": "pyro-ppl",
}  # fmt: skip
_AFFIXES = re.compile(
    r"^(python|py|openai|pytorch)-|-(python|py|headless|contrib|cpu|gpu|core|learn|torch|pytorch|binary|ppl|nightly)"
    r"(?=-|$)|(cu\d+)$"
)


@dataclass(frozen=True)
class Declared:
    """A declared dependency: the distribution's name, and the file and line of the declaration."""

    name: str
    path: str
    line: int


def declared_dependencies(paths: Iterable[str], read: Callable[[str], bytes | None]) -> list[Declared]:
    """Return every dependency that the files among `paths` declare, in their order; none of them is executed."""
    found = []
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        names = _reader(path)
        data = read(path) if names else None
        if names and data is not None and len(data) < 1_000_000:
            text = data.decode("utf-8", "replace")
            found += [Declared(name, path, line) for line, name in names(text)]
    return found


def distribution_for(module: str, known: Iterable[Declared]) -> Declared | None:
    """Return the declared dependency that provides a top-level import name; None if there is none.

    >>> distribution_for("cv2", [Declared("opencv-python-headless", "requirements.txt", 3)]).line
    3
    """
    known = list(known)
    names = {normalize_name(module), normalize_name(_IMPORTED_AS.get(module, module))}
    exact = next((each for each in known if normalize_name(each.name) in names), None)
    return exact or next((each for each in known if _stem(each.name) in {_stem(name) for name in names}), None)


def usual_name(module: str) -> str:
    """Return the distribution that a top-level import name usually comes from."""
    return _IMPORTED_AS.get(module) or module.replace("_", "-")


def _stem(name: str) -> str:
    """Return a name without affixes for builds and languages: "opencv" of "opencv-python-headless"."""
    return _AFFIXES.sub("", _AFFIXES.sub("", normalize_name(name)))


def _reader(path: str) -> Callable[[str], Iterator[tuple[int, str]]] | None:
    if _PLAIN.search(path):
        return partial(_lines, _LINE)
    if _ENVIRONMENT.search(path):
        return partial(_lines, _CONDA)
    if _PROJECT.search(path):
        return _project
    return (
        _find_quoted
        if _SETUP.search(path) and path.endswith(".py")
        else option_requirements
        if _SETUP.search(path)
        else None
    )


def _lines(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.match(line):
            yield number, match[1]


def option_requirements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the requirements of setup.cfg: the indented lines below install_requires and the extras."""
    section, key = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            section, key = line.strip("[] \t"), ""
        elif match := re.match(r"([\w.-]+)\s*=\s*(.*)", line):
            key, line = match[1], match[2]
        names = key == "install_requires" or section == "options.extras_require"
        if names and (match := _LINE.match(line)):
            yield number, match[1]


def _find_quoted(text: str) -> Iterator[tuple[int, str]]:
    """Yield the strings in lists of requirements in setup.py."""
    inside = 0
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"requires?\b|requirements|extras", line):
            inside = 100
        if inside:
            yield from ((number, match[1]) for match in _QUOTED.finditer(line))
            inside = 0 if re.search(r"^\s*[\])]", line) else inside - 1


def _project(text: str) -> Iterator[tuple[int, str]]:
    """Yield the dependencies of a pyproject.toml or Pipfile, with the line of the first occurrence of each."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    lines = text.splitlines()
    for name in dict.fromkeys(_find_names(data)):
        spelled = re.compile(rf"(^\s*[\"']?|[\"'])({re.escape(name)})(?![\w.-])")
        yield next((number for number, line in enumerate(lines, 1) if spelled.search(line)), 1), name


def _find_names(data: Mapping[str, Any]) -> Iterator[str]:
    for item in (item for each in requirement_lists(data) for item in each):
        if isinstance(item, str) and (match := _LINE.match(item)):
            yield match[1]
    for table in version_tables(data):
        yield from (name for name in table if normalize_name(name) != "python")
