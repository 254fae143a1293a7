"""Wrong usage is told before anything of the repository is run, although the first run begins early."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository

from devfix.errors import UserError
from devfix.pipeline import RepairOptions, repair

RUNS = "from pathlib import Path\nimport torch\nPath({path!r}).touch()\n"


@pytest.mark.parametrize("where", ["repository", "user", "option"])
def test_a_choice_of_rules_that_is_wrong_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    ran, user = tmp_path / "ran", tmp_path / "configuration" / "devfix"
    files = {"main.py": RUNS.format(path=str(ran))}
    if where == "repository":
        files["devfix.toml"] = 'select = ["acme/none"]\n'
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user.parent))
    if where == "user":
        user.mkdir(parents=True)
        (user / "devfix.toml").write_text('rule-paths = ["nowhere"]\n')
    root = make_repository(tmp_path / "program", files)
    options = RepairOptions(run="python main.py", rules=(str(tmp_path / "nowhere"),) if where == "option" else ())
    with pytest.raises(UserError):
        repair(root, options)
    assert not ran.exists()
