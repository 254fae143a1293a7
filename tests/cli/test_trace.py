"""`devfix trace` shows what a rule is given, for a program and for the cases of a page."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from rule_packs import page, write_rule

from devfix.cli import status

PROGRAM = """import torch
import scaling

gpu = torch.device("cuda")
weight = torch.ones(3).to(gpu)
bias = torch.zeros(3)
print(scaling.add(weight, bias))
"""
LIBRARY = """def add(weight, bias):
    return weight + bias
"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program, and no configuration of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "scaling.py").write_text(LIBRARY)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = status(["trace", *arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


@pytest.mark.slow
def test_a_programs_operands_sites_and_scopes_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "train.py").splitlines()
    assert lines[:2] == ["train.py", "device-mismatch at scaling.py:2, operator aten::add, thread MainThread"]
    start = lines.index("Operand 1: `bias` (other) on cpu, torch.float32 [3], suspect 1")
    assert lines[start + 1 : lines.index("", start)] == [
        "  target device: cuda:0",
        "  name in frame 1: bias (same)",
        "  name in frame 0: bias (same)",
        "  factory aten::zeros -> cpu  train.py:6  bias = torch.zeros(3)",
        "  site 'creation'  train.py:6  Call: torch.zeros(3)",
        "    device expressions: gpu, weight.device",
        "  site 'argument' frame 0  train.py:7  Call: scaling.add(weight, bias)",
        "    names here: bias",
        "    device expressions: gpu, weight.device",
        "  site 'use' frame 1  scaling.py:2  BinaryOperation: weight + bias",
        "    names here: bias",
        "    device expressions: weight.device",
    ]
    frame = lines.index("Frame 1: scaling.py:2 in add  return weight + bias")
    assert lines[frame + 1 : frame + 3] == [
        "  weight  tensor  cuda:0  torch.Tensor [3]",
        "  bias    tensor  cpu     torch.Tensor [3]",
    ]


@pytest.mark.slow
def test_the_same_is_one_json_object_with_the_syntax_trees(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(said(capsys, "train.py", "--format", "json"))
    assert data["schema"] == "devfix-context/1"
    (context,) = data["contexts"]
    site = context["operands"][1]["sites"][0]
    assert (site["kind"], site["node"], site["device_expressions"]) == ("creation", "Call", ["gpu", "weight.device"])
    assert site["syntax_tree"] == [
        "Call",
        "  func: Attribute",
        "    value: Name 'torch'",
        "    attr: Name 'zeros'",
        "  args[0]: Arg",
        "    value: Integer '3'",
    ]
    (variable,) = [each for each in context["frames"][0]["scope"] if each["expression"] == "gpu"]
    assert (variable["kind"], variable["device"], variable["type"]) == ("device", "cuda", "torch.device")


@pytest.mark.slow
def test_a_case_is_found_by_its_rule_and_by_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_rule(tmp_path / "rules", text=page())
    out = said(capsys, "rules")
    assert out.startswith("left behind\n") and out.endswith(
        "1 more cases of this rule fail; -k TEXT selects by the name\n"
    )
    assert said(capsys, "rules", "-k", "purpose").startswith("on purpose\n")
    tree = said(capsys, "on purpose", "--rules", "rules", "--format", "tree").splitlines()
    assert tree[0] == "on purpose" and "      func: Attribute" in tree and "placed on purpose" in "\n".join(tree)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scaling.py"], "scaling.py: does not fail on a device, so that there is nothing to show: clean in the world"),
        (["nowhere.py"], "nowhere.py: no such file"),
        (["nothing/of-this-kind"], "no such rule"),
    ],
)
def test_what_has_nothing_to_show_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert status(["trace", *arguments]) == 2
    _, err = capsys.readouterr()
    assert words in err and err.count("\n") == 1


@pytest.mark.slow
def test_an_interpreter_may_be_named_from_the_current_folder(
    capsys: pytest.CaptureFixture[str], somewhere: Path
) -> None:
    """The program runs in a folder of its own."""
    (somewhere / "env" / "bin").mkdir(parents=True)
    (somewhere / "env" / "bin" / "python").symlink_to(sys.executable)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", somewhere / "env")
    (somewhere / "env" / "lib").symlink_to(Path(sys.prefix) / "lib")
    for named in ("env/bin/python", "env"):
        assert said(capsys, "train.py", "--python", named).startswith("train.py\ndevice-mismatch")
    assert status(["trace", "train.py", "--python", "nowhere/python"]) == 2
    assert "nowhere/python: no such interpreter" in capsys.readouterr().err
