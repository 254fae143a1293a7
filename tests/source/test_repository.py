"""Queries to all files of a repository: definitions through imports, base classes, callers, and new parameters."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.rule_testing.fixtures import sources_of
from devfix.sdk import Definition, Repository, add_parameter
from devfix.source import File
from devfix.source.queries.repository import linearize

FILES = {
    "src/acme/__init__.py": "from .models import Net\nfrom . import data as rows\n",
    "src/acme/models.py": """import torch.nn as nn

from . import mixins


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    @property
    def device(self):
        return self.weight.device


class Net(mixins.Saved, Block):
    def __init__(self, width):
        super().__init__(width)
        self.inner = Block(width)

    def forward(self, x):
        return self.scaled(x) + self.inner.scaled(x)

    def scaled(self, x, *, by=1):
        return x * by
""",
    "src/acme/mixins.py": """class Saved:
    def save(self, path): ...

    @property
    def device(self): ...

    @property
    def name(self): ...
""",
    "src/acme/data.py": "def load(path, limit=None):\n    return limit\n",
    "train.py": """import acme
from acme import Net as Model
from acme.data import load

model = Model(3)
model.save("a")
print(model(load("x")), acme.rows.load("y", 3), load(**{}))


def load_all(model):
    def load(): ...
    return load()
""",
    "notes.txt": "load(",
}


@pytest.fixture
def repository() -> Repository:
    return Repository(sources_of({"main.py": "", **FILES}))


def found(repository: Repository, name: str) -> Definition:
    definition = repository.definition(name)
    assert definition is not None
    return definition


def names(given: list[Definition | str]) -> list[str]:
    return [each if isinstance(each, str) else each.name for each in given]


def called(repository: Repository, name: str) -> list[str]:
    pairs = repository.callers(found(repository, name))
    return [f"{file.path}: {' '.join(file.code(call).split())}" for file, call in pairs]


def file_of(repository: Repository, path: str) -> File:
    return next(file for file in repository.files() if file.path == path)


def test_files_below_a_folder(repository: Repository) -> None:
    assert [file.path for file in repository.files("src/acme")] == sorted(name for name in FILES if "src" in name)
    assert [file.path for file in repository.files()][-1] == "train.py"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("acme.models.Net.forward", "src/acme/models.py"),
        ("acme.Net", "src/acme/models.py"),
        ("acme.rows.load", "src/acme/data.py"),
        ("src.acme.mixins.Saved", "src/acme/mixins.py"),
    ],
)
def test_a_definition_is_found_through_packages_and_what_they_pass_on(
    repository: Repository, name: str, path: str
) -> None:
    definition = found(repository, name)
    assert definition.file.path == path and definition.name.endswith(name.rpartition(".")[2])


@pytest.mark.parametrize("name", ["acme.missing", "torch.nn.Linear", "acme", "load"])
def test_what_the_repository_does_not_define(repository: Repository, name: str) -> None:
    assert repository.definition(name) is None


def test_of_two_modules_of_one_name_neither_is_meant_unless_one_is_nearer() -> None:
    files = {"a/lib/net.py": "def f(): ...\n", "b/lib/net.py": "def f(): ...\n", "b/main.py": "", "main.py": ""}
    program = "from lib.net import f\nf()\n"
    repository = Repository(sources_of({**files, "b/main.py": program, "main.py": program}))
    assert repository.definition("lib.net.f") is None
    assert called(repository, "b.lib.net.f") == ["b/main.py: f()"]


def test_imports_that_turn_in_a_circle_end() -> None:
    files = {"a.py": "from b import f\n", "b.py": "from a import f\n", "main.py": "from a import f\nf()\n"}
    assert Repository(sources_of(files)).definition("a.f") is None


def test_base_classes_are_in_the_order_of_python(repository: Repository) -> None:
    net = found(repository, "acme.Net")
    assert names(repository.bases(net)) == ["Saved", "Block"]
    assert names(repository.mro(net)) == ["Net", "Saved", "Block", "torch.nn.Module"]


def test_the_order_is_that_of_type_mro_and_ends_for_classes_that_python_refuses() -> None:
    graph = {"A": [], "B": ["A"], "C": ["A"], "D": ["B", "C"], "E": ["C", "B"], "F": ["D"], "X": ["Y"], "Y": ["X"]}
    made: dict[str, type] = {}
    for name in "ABCDEF":
        made[name] = type(name, tuple(made[base] for base in graph[name]), {})
        assert linearize(name, graph.__getitem__) == [each.__name__ for each in made[name].__mro__[:-1]]
    assert linearize("G", {**graph, "G": ["D", "E"]}.__getitem__) == ["G", "D", "E", "B", "C", "A"]
    assert linearize("X", graph.__getitem__) == ["X", "Y"]


def test_methods_and_properties_are_inherited(repository: Repository) -> None:
    net = found(repository, "acme.Net")
    save = repository.method(net, "save")
    assert save is not None and save.name == "Saved.save" and save.holder is not None
    assert repository.method(net, "missing") is None
    assert {name: each.name for name, each in repository.properties(net).items()} == {
        "device": "Saved.device",
        "name": "Saved.name",
    }


def test_the_class_of_a_value(repository: Repository) -> None:
    train, models = file_of(repository, "train.py"), file_of(repository, "src/acme/models.py")
    model = repository.class_of(train, train.find(train.module, "model")[1])
    inner = repository.class_of(models, models.find(models.module, "self.inner")[-1])
    assert isinstance(model, Definition) and model.name == "Net"
    assert isinstance(inner, Definition) and inner.name == "Block"
    assert repository.class_of(train, cst.Name("load")) is None


def test_a_function_is_called_in_every_file_and_not_by_others_of_its_name(repository: Repository) -> None:
    assert called(repository, "acme.data.load") == [
        'train.py: load("x")',
        'train.py: acme.rows.load("y", 3)',
        "train.py: load(**{})",
    ]


def test_methods_are_called_on_what_is_constructed_by_super_and_by_self(repository: Repository) -> None:
    assert called(repository, "acme.mixins.Saved.save") == ['train.py: model.save("a")']
    assert called(repository, "acme.models.Net.scaled") == ["src/acme/models.py: self.scaled(x)"]
    assert called(repository, "acme.models.Net.forward") == ['train.py: model(load("x"))']
    assert called(repository, "acme.models.Net.__init__") == ["train.py: Model(3)"]
    assert called(repository, "acme.models.Block.__init__") == [
        "src/acme/models.py: super().__init__(width)",
        "src/acme/models.py: Block(width)",
    ]


@pytest.mark.slow
def test_subclasses_in_other_files_are_known_and_their_constructor_is_the_inherited_one() -> None:
    files = {
        "base.py": "class Base:\n    def __init__(self, width): ...\n",
        "wide.py": "from base import Base\nclass Wide(Base): ...\n",
        "wider.py": "import wide\nclass Wider(wide.Wide): ...\n",
        "other.py": "class Wide: ...\nWide()\n",
        "main.py": "from wider import Wider as W\nW(3)\n",
        **{f"many/file{number}.py": "from wider import Wider\nWider(1)\n" for number in range(210)},
    }
    repository = Repository(sources_of(files))
    assert [each.name for each in repository.subclasses(found(repository, "base.Base"))] == ["Wide", "Wider"]
    calls = called(repository, "base.Base.__init__")
    assert calls[0] == "main.py: W(3)" and len(calls) == 211, "however many files there are"


def after(repository: Repository, name: str, *words: str, **options: str) -> dict[str, str]:
    made = list(add_parameter(repository, found(repository, name), *words, **options))
    return {edit.path: edit.after.decode() for change in made for edit in change.edits}


def test_a_parameter_is_passed_at_every_call_in_one_change(repository: Repository) -> None:
    files = after(repository, "acme.data.load", "device", "model.device", default="None")
    assert "def load(path, limit=None, device=None):" in files["src/acme/data.py"]
    assert (
        'load("x", device=model.device)), acme.rows.load("y", 3, device=model.device), load(**{}))'
        in (files["train.py"])
    ), "inside another call too; what `**` passes is not known"
    assert "return load()\n" in files["train.py"], "a function of its own"
    for path, text in files.items():
        compile(text, path, "exec")


def test_a_parameter_without_a_default_is_by_keyword_where_another_has_one(repository: Repository) -> None:
    files = after(repository, "acme.data.load", "device", "'cuda'")
    assert "def load(path, limit=None, *, device):" in files["src/acme/data.py"]
    assert (
        "def scaled(self, x, *, by=1, device):"
        in after(repository, "acme.Net.scaled", "device", "x.device")["src/acme/models.py"]
    )


def test_nothing_is_added_twice_or_where_a_call_would_lack_it(repository: Repository) -> None:
    assert after(repository, "acme.data.load", "limit", "3") == {}
    assert after(repository, "acme.data.load", "device") == {}
    assert after(repository, "acme.models.Net", "device", "0") == {}
