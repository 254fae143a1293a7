"""Locate the dependencies in a pyproject.toml or a Pipfile, for each tool that reads one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


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
