"""The folders of rules in the user's own configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.errors import UserError
from devfix.registry import selection


def test_a_folder_of_the_users_configuration_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "devfix").mkdir()
    configuration = tmp_path / "devfix" / "devfix.toml"
    configuration.write_text('rule-paths = ["rules"]\n')
    with pytest.raises(UserError) as caught:
        selection.user_paths()
    assert str(caught.value) == (
        f"{configuration}: rule-paths: rules does not exist; a relative path begins at {tmp_path / 'devfix'}"
    )
    (tmp_path / "devfix" / "rules").mkdir()
    assert selection.user_paths() == [tmp_path / "devfix" / "rules"]
