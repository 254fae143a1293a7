"""What a regression test is written from, and where it goes."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import HANGS

from devfix.model import Argument, Call, Edit, Failure, Frame, Recipe, SourceLocation, Target, World
from devfix.notes import Notes
from devfix.regression_tests import candidates, find_home, program
from devfix.regression_tests.builder import (
    TestCodeBuilder as CodeBuilder,  # pytest takes what begins with Test for tests
)
from devfix.regression_tests.builder import Unwritable, wrap_line
from devfix.regression_tests.render import body_of_call, text_of
from devfix.regression_tests.shrink import smaller

PLACE = SourceLocation("package/model.py", 5, "Model.forward", owned=True)
FAILURE = Failure("device-mismatch", "RuntimeError", "Expected all \x1b[1m\n tensors", "aten::add", (Frame(PLACE),))
INTEGERS = Recipe("tensor", "integers", numbers="[0, 90]", dtype="int64", shape=(16, 128), device="cuda:0")
MODEL = Recipe(
    "made", "Model", "package.model", keywords=(("width", Recipe("literal", "128")),), moves=(("", "cuda:0"),)
)


def call(*values: Recipe, instance: Recipe | None = MODEL) -> Call:
    arguments = tuple(Argument(f"x{number}", "plain", value) for number, value in enumerate(values))
    return Call(0, "package.model", "", "method", "forward", arguments, instance)


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (Recipe("literal", "'a'"), '"a"'),
        (Recipe("literal", "'a\"b'"), "'a\"b'"),
        (Recipe("tuple", items=(Recipe("literal", "1"),)), "(1,)"),
        (Recipe("set"), "set()"),
        (Recipe("dict", items=(Recipe("literal", "'k'"), Recipe("list"))), '{"k": []}'),
        (Recipe("device", "cuda:1"), 'torch.device("cuda:1")'),
        (Recipe("name", "float16", "torch"), "torch.float16"),
        (Recipe("name", "Mode.SUM", "package.modes"), "Mode.SUM"),
        (INTEGERS, 'torch.randint(0, 90, (16, 128), device="cuda:0")'),
        (Recipe("tensor", "values", numbers="3", dtype="int64", device="cpu"), "torch.tensor(3)"),
        (Recipe("tensor", "zeros", dtype="float32", device="cpu"), "torch.zeros(())"),
        (Recipe("tensor", "full", numbers="7", dtype="int32", shape=(2,), device="cpu"),
         "torch.full((2,), 7, dtype=torch.int32)"),
        (Recipe("tensor", "arange", numbers="[2, 5]", dtype="int64", shape=(3,), device="cpu"), "torch.arange(2, 5)"),
        (Recipe("tensor", "unit", dtype="float16", shape=(2, 3), device="cpu", grad=True),
         "torch.rand(2, 3, dtype=torch.float16).requires_grad_()"),
        (MODEL, 'Model(width=128).to("cuda:0")'),
        (replace(MODEL, dtype="float64", evaluates=True), 'Model(width=128).to("cuda:0", torch.float64).eval()'),
    ],
)  # fmt: skip
def test_recipes_become_python(recipe: Recipe, text: str) -> None:
    assert CodeBuilder().expression(recipe) == text
    ast.parse(text)


def test_a_model_on_two_gpus_is_moved_part_by_part() -> None:
    source = CodeBuilder()
    moves = (("", "cuda:0"), ("layers.1", "cuda:1"))
    assert source.variable(replace(MODEL, moves=moves), "model") == "model"
    assert source.lines == ['model = Model(width=128).to("cuda:0")', 'model.layers[1].to("cuda:1")']


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("unknown", "DataLoader"),
        Recipe("list", items=(Recipe("unknown", "DataLoader"),)),
        Recipe("list", items=(replace(MODEL, moves=(("a", "cuda:1"),)),)),
        Recipe("list", items=(Recipe("name", "f", "one"), Recipe("name", "f", "two"))),
    ],
)
def test_what_cannot_be_written_is_not(recipe: Recipe) -> None:
    with pytest.raises(Unwritable):
        CodeBuilder().variable(recipe, "x")


def test_long_lines_are_broken_where_formatters_break_them() -> None:
    given = ", ".join(f'argument_{number}=({number}, "a, b")' for number in range(9))
    line = f"model = Model({given})"
    broken = wrap_line(line)
    assert broken[0] == "model = Model(" and broken[-1] == ")"
    assert all(len(each) <= 84 for each in broken)
    assert ast.dump(ast.parse("\n".join(broken))) == ast.dump(ast.parse(line))


def test_sizes_that_nothing_depends_on_become_small_the_same_everywhere() -> None:
    float_one = Recipe("tensor", "normal", dtype="float32", shape=(16, 128, 33), device="cuda:0", grad=True)
    less = smaller(call(INTEGERS, float_one))
    assert less is not None
    shapes = [each.value.shape for each in less.arguments]
    assert shapes[0][0] == shapes[1][0] < 16
    assert shapes[0][1] == shapes[1][1] == 128  # the model is made with that number
    assert shapes[1][2] not in (shapes[0][0], 128, 33)
    assert not less.arguments[1].value.grad
    assert smaller(less) is None


def test_the_text_is_one_small_file_that_python_reads() -> None:
    text = text_of(
        body_of_call(call(INTEGERS), "Model.forward"), FAILURE, 1, "tests/a/test_devices_model.py", True, True
    )
    compile(text, "test", "exec")
    assert text.index('importorskip("devfix")') < text.index("@pytest.mark.gpus(1)")
    assert "def test_model_forward_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:" in text
    assert "monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2])" in text
    assert "\x1b" not in text
    assert text.index("import torch\n") > text.index("def test_")  # in the world that the mark gives
    assert "devfix" not in text.replace('pytest.importorskip("devfix")', "").replace("test_devices", "")


def test_calls_inside_of_what_was_fixed_are_left_out() -> None:
    source = b"def outer(x):\n    y = x\n    return inner(y)\n\n\ndef inner(y):\n    return y + 1\n"
    frames = tuple(Frame(SourceLocation("m.py", line, name, owned=True)) for line, name in ((3, "outer"), (7, "inner")))
    calls = tuple(
        Call(frame, "m", "", "function", name, (Argument("x", "plain", INTEGERS),))
        for frame, name in ((1, "inner"), (0, "outer"))
    )
    failure = replace(FAILURE, frames=frames, calls=calls)
    target = Target(Path(), "", ("python", "main.py"), Path("python"), World("simulated", 1), 60)

    def tried(line: int) -> set[str]:
        return {each.drives for each in candidates(failure, [Edit("m.py", line, source, source)], target, Notes())}

    assert tried(2) == {"calls `outer`"}
    assert tried(7) == {"calls `inner`", "calls `outer`"}
    assert {each.gpus for each in candidates(failure, [], target, Notes())} == {1}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("python", "main.py", "--steps", "2"), '[sys.executable, "main.py", "--steps", "2"]'),
        (("python", "-m", "package", "run"), '[sys.executable, "-m", "package", "run"]'),
        (("env", "STEPS=2", "python", "main.py"), '{**os.environ, "STEPS": "2"}'),
        (("python", "main.py", "/etc/data"), ""),
        (("python", "main.py", "--data=/etc/data"), ""),
        (("python", "-m", "pytest", "tests"), ""),
        (("/usr/bin/train",), ""),
        (("python", "-Werror", "main.py"), ""),
    ],
)
def test_a_program_is_run_as_it_was_started(command: tuple[str, ...], said: str) -> None:
    target = Target(Path(), "", command, Path("python"), World("simulated", 2), 60, subfolder="sub")
    reasons = Notes()
    found = list(program(target, 1.0, reasons))
    assert bool(found) == bool(said)
    assert bool(reasons) != bool(said)
    if said:
        text = text_of(found[0].body, FAILURE, 2, "sub/tests/test_devices_main.py", False, False)
        compile(text, "test", "exec")
        assert said in text
        assert 'cwd=ROOT / "sub"' in text and "parents[2]" in text
    assert list(program(target, 2 * HANGS, Notes())) == []


NOTHING = {"README.md": b""}
TESTS = {"tests/unit/test_a.py": b"def test_a():\n    pass\n", "tests/test_b.py": b"def test_b() -> None:\n    pass\n"}


@pytest.mark.parametrize(
    ("files", "place"),
    [
        (NOTHING, None),
        ({"test_tool.py": b"print('no test')\n"}, None),
        ({"pytest.ini": b"[pytest]\n"}, "tests"),
        ({"pyproject.toml": b"[tool.pytest.ini_options]\n"}, "tests"),
        ({"pyproject.toml": b"[tool.other]\n"}, None),
        (TESTS, "tests"),
        ({"test_a.py": b"def test_a():\n    pass\n"}, ""),
        ({**TESTS, "tests/color/test_c.py": b"def test_c():\n    pass\n"}, "tests/color"),
        ({"t/test_case.py": b"import unittest\nclass Case(unittest.TestCase): ...\n"}, "t"),
    ],
)
def test_a_test_goes_where_the_repository_has_tests(files: dict[str, bytes], place: str | None) -> None:
    home = find_home(files, "", files.__getitem__)
    assert (home.place("package/color/ops.py") if home else None) == place


def test_names_follow_the_neighbours() -> None:
    home = find_home({"ops_test.py": b"def test_a():\n    pass\n"}, "", lambda path: b"def test_a():\n    pass\n")
    assert home is not None
    names = home.names("package/_my-Ops.py")
    assert (next(names), next(names)) == ("devices_my_ops_test.py", "devices_my_ops_2_test.py")


def test_an_optimizer_steps_the_module_that_is_made_before_it() -> None:
    steps = Recipe("made", "optim.SGD", "torch", items=(Recipe("parameters", "net"),))
    arguments = (Argument("optimizer", "plain", steps), Argument("net", "plain", MODEL))
    body = body_of_call(Call(0, "package.train", "", "function", "step", arguments), "step")
    assert body.lines[-3:] == (
        'net = Model(width=128).to("cuda:0")',
        "optimizer = torch.optim.SGD(net.parameters())",
        "step(optimizer, net)",
    )
    with pytest.raises(Unwritable):
        body_of_call(Call(0, "package.train", "", "function", "step", arguments[:1]), "step")
