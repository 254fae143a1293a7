"""No module needs itself, and no part of a package needs another one that needs it."""

from __future__ import annotations

import graphlib
from collections.abc import Iterator

import pytest

grimp = pytest.importorskip("grimp")  # import-linter brings it, and is not beside every interpreter


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    built = grimp.build_graph("devfix", cache_dir=None)
    assert len(built.modules) > 500
    return built


def test_no_module_imports_itself_through_others(graph: grimp.ImportGraph) -> None:
    """Also not within a layer, of which the contracts say nothing, and not by an import in a function."""
    # The package itself imports what callers from outside ask it for, when they do.
    edges = {name: graph.find_modules_directly_imported_by(name) - {"devfix"} for name in graph.modules}
    graphlib.TopologicalSorter(edges).prepare()  # raises CycleError, which names the modules


def test_no_parts_of_a_package_import_each_other(graph: grimp.ImportGraph) -> None:
    packages = sorted(name for name in graph.modules if graph.find_children(name))
    assert len(packages) > 50
    cycles = ["\n".join(found) for package in packages if (found := [*cycle(graph, package)])]
    assert not cycles, "\n\n".join(cycles)


def test_a_cycle_of_parts_is_found_and_named() -> None:
    built = grimp.ImportGraph()
    for name in ("p", "p.a", "p.a.inner", "p.b", "p.c"):
        built.add_module(name)
    built.add_import(importer="p.a.inner", imported="p.b")
    built.add_import(importer="p.b", imported="p.c")
    assert not [*cycle(built, "p")]
    built.add_import(importer="p.c", imported="p.a")  # no cycle of modules, but one of the parts a, b and c
    assert [*cycle(built, "p")] == ["p.a.inner -> p.b", "p.b -> p.c", "p.c -> p.a"]


def cycle(graph: grimp.ImportGraph, package: str) -> Iterator[str]:
    """Yield, as `importer -> imported`, one import for each step of a cycle between the parts of a package."""
    part = {below: child for child in graph.find_children(package) for below in (child, *graph.find_descendants(child))}
    steps: dict[tuple[str, str], str] = {}
    for importer in sorted(part):
        for imported in sorted(graph.find_modules_directly_imported_by(importer) & part.keys()):
            if part[importer] != part[imported]:
                steps.setdefault((part[importer], part[imported]), f"{importer} -> {imported}")
    needed: dict[str, set[str]] = {}
    for first, second in steps:
        needed.setdefault(first, set()).add(second)
    try:
        graphlib.TopologicalSorter(needed).prepare()
    except graphlib.CycleError as error:
        parts = sorted(zip(error.args[1][1:], error.args[1], strict=False))
        yield from (steps[each] for each in parts)
