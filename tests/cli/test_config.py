"""[tool.devfix] and devfix.toml: what is read, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.config import Config, read_config
from devfix.errors import UserError

FULL = """
run = "python train.py --steps 2"
world = "simulated"
gpus = 2
python = ".venv/bin/python"
exclude = ["vendor/*"]
timeout = 60
max-fixes = 3
select = ["placement"]
ignore = ["placement/input-not-moved"]
rule-paths = ["my_rules"]
[rules."placement/input-not-moved"]
prefer = "caller"
"""


def test_everything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "devfix.toml"
    file.write_text(FULL)
    config = read_config(tmp_path)
    assert config == Config(
        run="python train.py --steps 2",
        world="simulated",
        gpus=2,
        python=".venv/bin/python",
        exclude=("vendor/*",),
        timeout=60.0,
        max_fixes=3,
        select=("placement",),
        ignore=("placement/input-not-moved",),
        rule_paths=("my_rules",),
        rules={"placement/input-not-moved": {"prefer": "caller"}},
        source=file,
    )


def test_the_nearest_file_that_speaks_of_devfix_counts(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path.parent / "devfix.toml").write_text("gpus = 9")  # outside of the repository
    assert read_config(tmp_path, "a/b").gpus is None
    (tmp_path / "pyproject.toml").write_text("[tool.devfix]\ngpus = 1")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1")
    assert read_config(tmp_path, "a/b").gpus == 1
    (inner / "pyproject.toml").write_text("[tool.devfix]\ngpus = 2")
    assert read_config(tmp_path, "a/b").gpus == 2
    (inner / "devfix.toml").write_text("gpus = 3")
    assert read_config(tmp_path, "a/b").gpus == 3
    (tmp_path.parent / "devfix.toml").unlink()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gpu = 1", "unknown key 'gpu'; did you mean 'gpus'?"),
        ("max_fixes = 1", "did you mean 'max-fixes'?"),
        ("zzzz = 1", "known are devices, exclude, file-size"),
        ("gpus = 0", "'gpus' must be a number from 1, not 0"),
        ("gpus = true", "'gpus' must be"),
        ("gpus = '2'", "'gpus' must be"),
        ("timeout = -1", "'timeout' must be a number of seconds above 0"),
        ("timeout = nan", "'timeout' must be"),
        ("timeout = inf", "'timeout' must be"),
        ("run = ['python', 'x.py']", "'run' must be a command in a string"),
        ("run = ' '", "'run' must be"),
        ("world = 'cuda'", "'world' must be one of auto, real, simulated"),
        ("exclude = 'vendor'", "'exclude' must be a list"),
        ("select = [1]", "'select' must be a list"),
        ("[rules]\nplacement = 1", "'rules' must be tables"),
        ("[rules.placement]\nx = 1", "'rules' must be tables"),
        ("gpus = ", "not valid TOML"),
        ("gpus = 1\ngpus = 2", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "devfix.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_config(tmp_path)
    assert told in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_odd_files(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    for content, told in ((b"# caf\xe9", "not valid TOML"), (b"tool.devfix = 1", "must be a table")):
        file.write_bytes(content)
        with pytest.raises(UserError, match=told):
            read_config(tmp_path)
    for content in (b"", b"tool = 1", b"[tool]\nx = 1", b"[tool.devfix]\r\n"):
        file.write_bytes(content)
        assert read_config(tmp_path).run is None
