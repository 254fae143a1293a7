"""Call `devfix publish` as a person does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from forge_server import ForgeServer
from github_server import GitHub
from programs import steps

from devfix.cli import status

Step = Mapping[str, Any]


class Publish:
    """Calls `devfix publish` as a person does, and gives back the steps."""

    def __init__(self, hub: GitHub | ForgeServer, capsys: pytest.CaptureFixture[str], *always: str) -> None:
        self.hub, self.capsys, self.always = hub, capsys, always

    def __call__(self, report: Path, *options: str) -> Sequence[Step]:
        arguments = ["publish", str(report), "--remote", self.hub.url, "--format", "json", *self.always, *options]
        code = status(arguments)
        out, err = self.capsys.readouterr()
        assert code == 0, err
        return steps(out)

    def refused(self, report: Path, *options: str) -> str:
        """Return the one line that says why nothing was done."""
        code = status(["publish", str(report), "--remote", self.hub.url, *self.always, *options])
        _, err = self.capsys.readouterr()
        assert code == 2, err
        return err.splitlines()[-1]
