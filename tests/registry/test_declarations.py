"""Rules that are data: what a TOML file may say, what is refused, and that the rule acts as one in Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from rule_packs import RULE, block, page, repaired

from devfix import registry
from devfix.errors import RuleError, UserError
from devfix.model import Confidence
from devfix.registry import collect
from devfix.registry.loading import rule_at
from devfix.rule_testing.authoring.lint import lint
from devfix.rule_testing.checking.check import Result
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.page import parse_page
from devfix.rule_testing.plugin import is_rule_page
from devfix.sdk import CreationRule, FailureRule, OperandRule

TITLE = "The bias stays behind."
MESSAGE = 'message = "{name} is on {device}, and meets a tensor on {peer}."'
HEAD = f'title = "{TITLE}"\n{MESSAGE}\n'
MOVED = f'{HEAD}\n[[fix]]\nat = "use"\nedit = "move-argument"\n'
COMPANY = """\
title = "A batch is given to a model of Acme as it came from its loader."
message = "{name} is on {device}: models of Acme take batches that `acme.to_gpu` has moved."

[[fix]]
at = "argument"
callee-class = "acme.AcmeModel"
replace = "acme.to_gpu($TENSOR)"
imports = "acme"
"""
ACME = """\
import torch


class AcmeModel(torch.nn.Module):
    pass


def to_gpu(batch):
    return batch.to("cuda" if torch.cuda.is_available() else "cpu")
"""
MODEL = """\
from acme import AcmeModel
import torch


class Net(AcmeModel):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.head(x)
"""
TRAIN = """\
import torch
from model import Net

torch.manual_seed(0)
model = Net().cuda() if torch.cuda.is_available() else Net()
batch = torch.ones(4, 3)
print(model(batch).shape)
"""


def declared(folder: Path, text: str, name: str = "bias_left") -> Path:
    """Write a rule that is data, and its page, into `folder`/acme."""
    path = folder / "acme" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.with_suffix(".md").write_text(page(), "utf-8")
    return path


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(Path(sys.executable)) as made:
        yield made


def results(bench: Bench, rule: Path, text: str) -> list[Result]:
    return [bench.check(rule_at(rule), case) for case in parse_page(text, rule.with_suffix(".md")).cases]


def test_the_company_rule_has_at_most_ten_lines() -> None:
    assert len(COMPANY.splitlines()) <= 10


@pytest.mark.slow
def test_the_company_rule_wraps_the_batch(bench: Bench, tmp_path: Path) -> None:
    files = block("python before acme.py", ACME) + "\n" + block("python before model.py", MODEL) + "\n"
    failure = block("text failure", "…")
    after = TRAIN.replace("model(batch)", "model(acme.to_gpu(batch))").replace("Net\n", "Net\nimport acme\n", 1)
    fixed = f"### a batch\n\n{files}{block('python before', TRAIN)}\n{failure}\n{block('python after', after)}"
    plain = MODEL.replace("from acme import AcmeModel\n", "").replace("AcmeModel", "torch.nn.Module")
    alone = f"### of torch\n\n{block('python before model.py', plain)}\n{block('python before', TRAIN)}\n{failure}"
    text = page(fixed, alone, title="x")
    one, other = results(bench, declared(tmp_path, COMPANY), text)
    assert one.problems == () and one.after is not None
    assert (other.problems, other.why_nothing) == ((), "`diagnose` blames nothing")


@pytest.mark.slow
def test_a_page_of_a_declared_rule_passes(bench: Bench, tmp_path: Path) -> None:
    text = f'{HEAD}\n[[fix]]\nat = "use"\nattribute = "*"\nedit = "move-argument"\n'
    found = results(bench, declared(tmp_path, MOVED), page())
    assert [result.problems for result in found] == [(), ()]
    # A name is no attribute, so that this one has no place.
    assert results(bench, declared(tmp_path, text), page(repaired()))[0].why_nothing == "`diagnose` blames nothing"


def test_a_declared_rule_is_of_its_family_and_has_its_class_variables(tmp_path: Path) -> None:
    more = (
        'confidence = "remote"\nsupersedes = ["acme/other"]\nreports-intentional = true\nneeds-object = "acme.Model"\n'
    )
    rule = rule_at(declared(tmp_path, more + MOVED))
    made = rule.implementation
    assert (rule.id, rule.title, rule.supersedes) == ("acme/bias-left", TITLE, ("acme/other",))
    assert isinstance(made, OperandRule) and made.confidence is Confidence.REMOTE and made.reports_intentional
    assert made.needs_object == ("acme.Model",) and type(made).__name__ == "BiasLeft" and type(made).__doc__ == TITLE
    creation = f'family = "creation"\n{HEAD}[when]\nkinds = "random"\n[[fix]]\nedit = "move-result"\n'
    assert isinstance(rule_at(declared(tmp_path, creation)).implementation, CreationRule)
    failure = f'family = "failure"\nfailure-kind = "fork"\n{HEAD}[[fix]]\nedit = "remove-move"\n'
    assert isinstance(rule_at(declared(tmp_path, failure)).implementation, FailureRule)


def test_options_are_put_in_their_places(tmp_path: Path) -> None:
    text = f'{HEAD}[options]\nattributes = ["values"]\n[[fix]]\nat = "use"\nattribute = {{ option = "attributes" }}\n'
    rule = rule_at(declared(tmp_path, text + 'edit = "move-argument"\n'))
    assert rule.implementation.declaration.fix[0].attribute == ("values",)  # type: ignore[attr-defined]
    other = rule.with_options({"attributes": ["weights", "bias"]})
    assert other.implementation.declaration.fix[0].attribute == ("weights", "bias")  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="unknown option 'attribute'; did you mean 'attributes'"):
        rule.with_options({"attribute": ["x"]})
    with pytest.raises(UserError, match="must be a list of strings"):
        rule.with_options({"attributes": "x"})


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("at =", "att =", 5, "unknown key 'att'; did you mean 'at'?"),
        ("message", "massage", 2, "unknown key 'massage'; did you mean 'message'?"),
        (f"{MESSAGE}\n", "", 1, "the key `message` is missing"),
        ('at = "use"', 'at = "usage"', 5, "`at` cannot be 'usage'; did you mean 'use'?"),
        ('at = "use"', "at = 3", 5, "`at`: expected `str | array`, got `int`"),
        ('at = "use"\n', "", 4, "the key `at` is missing; known are creation, "),
        ('edit = "move-argument"', "", 4, "a fix has one of edit, replace, "),
        ('edit = "move-argument"', 'edit = "move-arguments"', 6, "did you mean 'move-argument'?"),
        ('edit = "move-argument"', 'replace = "f("', 6, "`replace`: is not an expression of Python: f("),
        ('edit = "move-argument"', 'replace = "$batch"', 6, "metavariables are written in capital letters"),
        (
            'edit = "move-argument"',
            'replace = "f($BATCH)"',
            6,
            "the metavariable $BATCH is not bound; `match` and this",
        ),
        ('edit = "move-argument"', 'match = "$M($B)"\nreplace = "f($C)"', 7, "the metavariable $C is not bound"),
        ('edit = "move-argument"', 'set-argument = { device = "$D" }', 6, "the metavariable $D is not bound"),
        ('edit = "move-argument"', 'insert-before = "if x"', 6, "is not a statement of Python: if x"),
        ('edit = "move-argument"', 'edit = "move-argument"\ntitle = "Move it"', 7, "has a title of its own"),
        ('edit = "move-argument"', 'replace = "f($TENSOR)"\ntitle = "Move $X"', 7, "$X is not bound"),
        ('edit = "move-argument"', 'replace = "f($TENSOR)"\ntitle = "To $DEVICE"', 7, "$DEVICE is not bound"),
        ('edit = "move-argument"', 'set-argument = { a = "1", b = "2" }\nposition = 1', 7, "is that of one argument"),
        ('edit = "move-argument"', 'edit = "copy-to-host"', 6, "`copy-to-host` is done at the `failure`"),
        ('at = "use"', 'at = "file"', 5, "`file` needs `match` or `callee`"),
        ('at = "use"', 'at = "creation"\nattribute = "x"', 6, "`attribute` goes with `argument` and `use` alone"),
        ('at = "use"', 'at = "use"\nattribute = { option = "x" }', 6, "unknown option 'x'; known are none"),
        ("{peer}", "{peers}", 2, "`message` has {peers}; known are {name}, "),
        ("{peer}", "{peer", 2, "`message`: expected '}'"),
        ("title", 'family = "creation"\ntitle', 1, "needs `kinds` or `ops`"),
        ("title", 'family = "failure"\ntitle', 1, "needs `failure-kind`"),
        ("title", 'confidence = "sure"\ntitle', 1, "`confidence` cannot be 'sure'; known are direct, guess, "),
        ("[[fix]]", "[when]\nkinds = 'randon'\n\n[[fix]]", 5, "did you mean 'random'?"),
        ("[[fix]]", "[[fix]\n", 4, "is not valid TOML: "),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    assert old in MOVED
    path = declared(tmp_path, MOVED.replace(old, new, 1))
    with pytest.raises(RuleError) as caught:
        rule_at(path)
    assert str(caught.value).startswith(f"{path}:{line}: ") and what in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)


def test_declared_rules_are_found_as_modules_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = declared(tmp_path, MOVED)
    (tmp_path / "acme" / "__init__.py").write_text("")
    (tmp_path / "acme" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "acme" / "settings.toml").write_text("x = 1\n")
    for given in (tmp_path, tmp_path / "acme", path, path.with_suffix(".md")):
        found = collect([given])
        assert found.find("acme/bias-left").path == path and not found.problems
    assert is_rule_page(path.with_suffix(".md"))
    assert [str(each) for each in lint([tmp_path])] == []
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("acme", "acme", registry.GROUP)])
    monkeypatch.delitem(sys.modules, "acme", raising=False)
    installed = collect()
    assert [(rule.id, rule.path) for rule in installed.rules] == [("acme/bias-left", path)] and not installed.problems
    # A rule that is both is neither.
    path.with_suffix(".py").write_text(RULE)
    assert "a rule is a module or a TOML file" in " ".join(collect([tmp_path]).problems)


def test_lint_names_the_line(tmp_path: Path) -> None:
    path = declared(tmp_path, MOVED.replace("at =", "att ="))
    assert [str(each) for each in lint([path])] == [f"{path}:5: unknown key 'att'; did you mean 'at'?"]
