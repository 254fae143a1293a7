"""An object that knows no device is given one where it is constructed, if every object of its class can keep it."""

from __future__ import annotations

import pytest

from devfix.rule_testing.fixtures import sources_of
from devfix.sdk.fixes.parameters import keep_device
from devfix.source.queries.repository import Repository

SEARCH = """import torch
from abc import ABC


class Search:
    def __init__(self, width):
        self.width = width

    def start(self):
        return torch.zeros(self.width)


"""
MAIN = "from search import Search\n\nprint(Search(3).start(), Search(4))\n"
WIDE = "class Wide(Search):\n    def __init__(self):\n        {}\n"


def given(search: str) -> list[str]:
    repository = Repository(sources_of({"search.py": search, "main.py": MAIN}))
    method = repository.definition("search.Search.start")
    assert method is not None
    constructor = repository.definition("search.Search.__init__")
    assert constructor is not None
    ran = next(call for _, call in repository.callers(constructor))
    factories = list(method.file.find(method.node, "torch.zeros(self.width)"))
    changes = keep_device(repository, method, ran, "device", factories, "Keep it")  # type: ignore[arg-type]
    return [edit.after.decode() for each in changes for edit in each.edits]


def test_the_constructor_gets_the_device_and_the_object_keeps_it() -> None:
    search, main = given(SEARCH)
    assert (
        "def __init__(self, width, device=None):\n        self.width = width\n        self.device = device\n" in search
    )
    assert "torch.zeros(self.width, device=self.device)" in search
    assert main.endswith("print(Search(3, device=device).start(), Search(4))\n")


@pytest.mark.parametrize(
    ("text", "is_given"),
    [
        (SEARCH.replace("Search:", "Search(ABC):"), True),
        (SEARCH + WIDE.format("super().__init__(9)"), True),
        (SEARCH + WIDE.format("self.width = 9"), False),  # which would have no such attribute
        (SEARCH.replace("Search:", "Search(torch.nn.Module):"), False),
        (SEARCH.replace("Search:", "Search:\n    __slots__ = ('width',)\n"), False),
        (SEARCH.replace("class Search", "@frozen\nclass Search"), False),
        (SEARCH.replace("self.width = width", "self.device = width"), False),
        (SEARCH.replace("def start(self)", "def start(other)"), False),
    ],
)
def test_a_class_whose_objects_may_keep_a_device(text: str, is_given: bool) -> None:
    assert bool(given(text)) is is_given
