"""Commands and interpreters, found in real little repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import write
from notebooks import notebook

from devfix.discovery import Command, Interpreter, discover, runnable
from devfix.errors import UserError
from devfix.notebooks import HOST

PYTHON = Path(sys.executable)
GUARD = 'if __name__ == "__main__":\n    main()\n'
SCRIPT = "import torch\n\n\ndef main():\n    print('ran')\n\n\n" + GUARD


def shown(commands: tuple[Command, ...]) -> list[str]:
    return [command.shown for command in commands]


def run(command: Command, cwd: Path) -> str:
    return subprocess.run(command.words, cwd=cwd, check=True, capture_output=True, text=True).stdout


# What was asked for


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("python train.py --name 'a b'", (str(PYTHON), "train.py", "--name", "a b")),
        ("python3 -m pkg", (str(PYTHON), "-m", "pkg")),
        ("pytest -x tests/test_a.py", (str(PYTHON), "-m", "pytest", "-x", "tests/test_a.py")),
        ("CUDA_VISIBLE_DEVICES=0 A= python a.py", ("env", "CUDA_VISIBLE_DEVICES=0", "A=", str(PYTHON), "a.py")),
        ("python -c 'a; b' '|' \"&&\"", (str(PYTHON), "-c", "a; b", "|", "&&")),
        (
            "python a.py 'x&&y' \"a|b\" c\\;d '$HOME' --price=5$",
            (str(PYTHON), "a.py", "x&&y", "a|b", "c;d", "$HOME", "--price=5$"),
        ),
        ("./go.sh 1", ("./go.sh", "1")),
        ("tools/../go.sh", ("./go.sh",)),
    ],
)
def test_words_of_a_command(tmp_path: Path, asked: str, words: tuple[str, ...]) -> None:
    (command,) = discover(tmp_path, write(tmp_path, {"go.sh": ""}), asked, PYTHON)
    assert (command.words, command.shown, command.origin) == (words, asked, "--run")


def test_a_program_beside_the_interpreter_comes_before_the_path(tmp_path: Path) -> None:
    beside = tmp_path / "bin"
    write(tmp_path, {"bin/python": "", "bin/ls": ""})
    assert discover(tmp_path, frozenset(), "ls -l", beside / "python")[0].words == (str(beside / "ls"), "-l")
    assert Path(discover(tmp_path, frozenset(), "ls -l", PYTHON)[0].words[0]).is_absolute()


def test_an_ignored_program_is_taken_from_the_users_own_tree(tmp_path: Path) -> None:
    write(tmp_path, {".venv/bin/python": ""})
    (command,) = discover(tmp_path, frozenset(), ".venv/bin/python a.py", PYTHON)
    assert command.words == (str(tmp_path / ".venv/bin/python"), "a.py")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("", "empty"),
        ("python 'a", "quot"),
        ("no-such-program x", "no program 'no-such-program'"),
        ("./missing.sh", "no file ./missing.sh"),
        ("cd x && python a.py", "bash -c"),
        ("cd x; python a.py", "bash -c"),
        ("python a.py > log", "so > has no effect"),
        ("python a.py&&python b.py", "so && has no effect; use: bash -c 'python a.py&&python b.py'"),
        ("python a.py|tee log", "bash -c 'python a.py|tee log'"),
        ("python a.py >log 2>&1", "so > has no effect"),
        ("python a.py 2>/dev/null", "so 2> has no effect"),
        ("python - < train.py", "so < has no effect; use: bash -c 'python - < train.py'"),
        ("python - <train.py", "bash -c"),
        ("(python a.py)", "bash -c"),
        ("python $(echo a.py)", "bash -c"),
        ("python a.py --out $HOME/x", r"so \$HOME has no effect"),
        ('python a.py --out "${HOME}"', "bash -c"),
        ("python `which a.py`", "bash -c"),
        ("cd x", "so cd has no effect"),
        ("source run.sh", "bash -c"),
        ("A=1", "without a command"),
        ("train.py", "python train.py"),
    ],
)
def test_a_command_that_cannot_be_run_is_one_line(tmp_path: Path, asked: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        discover(tmp_path, write(tmp_path, {"train.py": ""}), asked, PYTHON, "[tool.devfix] run")
    assert "\n" not in str(caught.value)
    assert "[tool.devfix] run" in str(caught.value)


# What is found


@pytest.mark.slow
def test_kinds_come_cheapest_first_and_each_command_once(tmp_path: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "pyproject.toml": '[project.scripts]\np-train = "p.train:main"\np-other = "p.plain:main"\n',
            "p/__init__.py": "",
            "p/train.py": "import torch\ndef main():\n    print('trained')\n",
            "p/plain.py": "def main():\n    pass\n",
            "p/__main__.py": "from p.train import main\nmain()\n",
            "generate.py": "from p import train\n" + GUARD,
            "README.md": "```bash\n$ python generate.py\n$ python generate.py \\\n    --steps 2\npip install x\n```\n",
            "tests/test_p.py": "import p.train\n",
            "tests/test_plain.py": "import p.plain\n",
        },
    )
    commands = discover(tmp_path, tracked, None, PYTHON)
    assert [command.origin for command in commands] == [
        "the console script p-train",
        "p/__main__.py",
        "the main guard of generate.py",
        "README.md",
        "1 test files that import torch",
    ]
    assert shown(commands)[1:] == [
        "python -m p",
        "python generate.py",
        "python generate.py --steps 2",
        "python -m pytest tests/test_p.py",
    ]
    assert run(commands[0], tmp_path) == "trained\n"


def test_a_src_layout_runs_without_being_installed(tmp_path: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    go = pkg.cli:App.main\n",
            "src/pkg/__init__.py": "",
            "src/pkg/cli.py": (
                "import sys\nfrom . import model\nclass App:\n    @staticmethod\n"
                "    def main():\n        print('cli', sys.argv)\n"
            ),
            "src/pkg/model.py": "if False:\n    import torch.nn as nn\n",
            "src/pkg/__main__.py": "from .cli import App\nApp.main()\n",
        },
    )
    console, package = discover(tmp_path, tracked, None, PYTHON)
    assert run(console, tmp_path) == "cli ['go']\n"
    assert run(package, tmp_path).startswith("cli ")
    (asked,) = discover(tmp_path, tracked, "go --fast", PYTHON)
    assert run(asked, tmp_path) == "cli ['go', '--fast']\n"


def test_torch_is_found_through_local_modules_only(tmp_path: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "tools/near.py": "import helper_here\n" + GUARD,
            "tools/helper_here.py": "def f():\n    from torchvision import ops\n",
            "tools/far.py": "import nothing\n" + GUARD,
            "direct.py": SCRIPT,
            "no_guard.py": "import torch\n",
            "broken.py": "import torch\n__main__ = (\n",
            "loop_a.py": "import loop_b\n" + GUARD,
            "loop_b.py": "import loop_a\n",
            "setup.py": SCRIPT,
            "package/inner.py": "from . import other\n" + GUARD,
            "package/other.py": "import torch\n",
        },
    )
    assert shown(discover(tmp_path, tracked, None, PYTHON)) == [
        "python direct.py",
        "python -m package.inner",
        "python tools/near.py",
    ]


def test_what_git_does_not_know_is_not_run(tmp_path: Path) -> None:
    write(tmp_path, {"secret.py": SCRIPT})
    with pytest.raises(UserError, match="--run"):
        discover(tmp_path, frozenset(), None, PYTHON)


def test_readme_commands_with_blanks_to_fill_in_are_left_out(tmp_path: Path) -> None:
    lines = [
        "python run.py --data <path>",
        "python run.py --data /path/to/data",
        "python run.py --out $OUT",
        "python run.py | tee log",
        "python missing.py",
        "python -m pip install torch",
        "echo python run.py",
        "python3 run.py --good  # a comment",
        "SEED=1 python run.py",
        "python -m pkg.tool --fast",
    ]
    files = {
        "run.py": "import torch\n",
        "pkg/tool.py": "import torch\n",
        "README.md": "Text: python run.py --text\n\n```\n" + "\n".join(lines) + "\n```\n",
    }
    commands = discover(tmp_path, write(tmp_path, files), None, PYTHON)
    assert shown(commands) == ["python3 run.py --good", "SEED=1 python run.py", "python -m pkg.tool --fast"]
    assert commands[0].words == (str(PYTHON), "run.py", "--good")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("uv run train.py --fast", "python train.py --fast"),
        ("$ SEED=1 uv run python train.py", "SEED=1 python train.py"),
        ("poetry run python -m train", "python -m train"),
        ("uv run --extra gpu train.py", ""),
        ("echo uv run train.py", ""),
    ],
)
def test_what_a_tool_runs_in_the_environment_is_run_by_the_interpreter(tmp_path: Path, line: str, command: str) -> None:
    files = {"train.py": "import torch\n", "README.md": f"Train it:\n\n    {line}\n"}
    if command:
        assert shown(discover(tmp_path, write(tmp_path, files), None, PYTHON)) == [command]
    else:
        with pytest.raises(UserError, match="no command found"):
            discover(tmp_path, write(tmp_path, files), None, PYTHON)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("pyproject.toml", "[project]\nscripts = 3\n"),
        ("pyproject.toml", "project = 3\ntool = []\n"),
        ("pyproject.toml", "[project.scripts]\nx = 3\ny = 'not a target'\nz = 'a:b; import os'\n"),
        ("setup.cfg", "nonsense\n"),
        ("README.md", "```\npython 'run.py\n```\n"),
        ("bad.py", "\x00__main__"),
    ],
)
def test_a_file_that_is_broken_is_passed_over(tmp_path: Path, name: str, text: str) -> None:
    tracked = write(tmp_path, {name: text, "run.py": SCRIPT})
    assert shown(discover(tmp_path, tracked | {"gone.py"}, None, PYTHON)) == ["python run.py"]


# Notebooks


def test_notebooks_that_import_torch_are_entry_points(tmp_path: Path) -> None:
    book = notebook("%matplotlib inline\nimport torch").decode()
    other = notebook("import json").decode()
    tracked = write(tmp_path, {"a.ipynb": book, "b.ipynb": other, ".ipynb_checkpoints/a-checkpoint.ipynb": book})
    assert shown(discover(tmp_path, tracked, None, PYTHON)) == ["a.ipynb"]


@pytest.mark.parametrize(
    "asked", ["a.ipynb", "./a.ipynb", "jupyter execute a.ipynb", "jupyter nbconvert --to notebook --execute a.ipynb"]
)
def test_commands_that_run_a_notebook(tmp_path: Path, asked: str) -> None:
    tracked = write(tmp_path, {"a.ipynb": notebook("x = 1").decode()})
    assert discover(tmp_path, tracked, asked, PYTHON)[0].words == (str(PYTHON), str(HOST), "./a.ipynb")


def test_a_notebook_that_is_not_committed_is_named(tmp_path: Path) -> None:
    tracked = write(tmp_path, {"a.py": SCRIPT})
    write(tmp_path, {"b.ipynb": "{}"})
    with pytest.raises(UserError, match=r"b\.ipynb is not committed"):
        discover(tmp_path, tracked, "b.ipynb", PYTHON)


def test_an_interpreter_without_ipykernel_is_told_what_to_install() -> None:
    python = Interpreter(PYTHON, (3, 11), "2.6", 0)
    book, script = Command(("p", str(HOST), "a.ipynb"), "a.ipynb", ""), Command(("p", "a.py"), "python a.py", "")
    assert runnable((book, script), python) == (script,)
    with pytest.raises(UserError, match="pip install ipykernel"):
        runnable((book,), python)
