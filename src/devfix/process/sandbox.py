"""Run a program under bubblewrap: no network, only named paths writable, no sockets, no secrets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devfix.process.running import run

# A program can connect to a socket in a read-only folder: that of a terminal multiplexer, a container service or an
# agent would run commands outside.
_EMPTIED = ("/tmp", "/var/tmp", "/run")
_SECRETS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".kaggle", ".mozilla", ".password-store", ".huggingface"),
    *(".netrc", ".git-credentials", ".pypirc", ".npmrc", ".modal.toml", ".bash_history", ".python_history"),
    *(".config/gh", ".config/gcloud", ".config/git", ".cache/huggingface/token"),
)


@dataclass(frozen=True)
class Sandbox:
    """The access of a sandboxed program: it can read everything except secrets, and write to `writable`.

    `needed` paths stay readable although their parents are emptied; `devices` gives access to the machine's devices.
    """

    writable: Sequence[Path]
    needed: Sequence[Path] = ()
    devices: bool = False

    def around(self, command: Sequence[str], cwd: Path) -> list[str]:
        """Return the command that runs `command` in the sandbox."""
        options = [*("bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--unshare-net")]
        options += ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        options += ["--ro-bind", "/", "/", *(("--dev-bind", "/dev", "/dev") if self.devices else ("--dev", "/dev"))]
        options += ["--proc", "/proc"]
        for name in _EMPTIED:
            if os.path.isdir(name) and not os.path.islink(name):
                options += ["--tmpfs", name]
        for path in (Path.home() / name for name in _SECRETS):
            if path.exists():
                options += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        for path in self.needed:
            if any(path.is_relative_to(name) for name in _EMPTIED) and path.exists():
                options += ["--ro-bind", str(path), str(path)]
        for path in self.writable:
            options += ["--bind", str(path), str(path)]
        return [*options, "--chdir", str(cwd), "--", *command]


def why_no_sandbox() -> str:
    """Return why programs cannot run in a sandbox here; "" if they can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not there: install it (apt install bubblewrap)"
    done = run(Sandbox(()).around(["true"], Path("/")), Path("/"), os.environ, 60)
    if done.exit_code == 0:
        return ""
    return f"bubblewrap cannot work here ({(done.stderr.strip() or done.internal_error).splitlines()[-1][:200]})"
