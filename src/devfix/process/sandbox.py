"""Run a program under bubblewrap: no network, only named paths writable, no sockets, no secrets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
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
# Of a Linux system: its programs and libraries, its configuration, and what says how many processors there are.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/sys", "/nix/store")


@dataclass(frozen=True)
class Sandbox:
    """The access of a sandboxed program: it can read everything except secrets, and write to `writable`.

    `needed` paths stay readable although their parents are emptied; `devices` gives access to the machine's devices,
    `network` to its network. With `only_system` the program can read the folders of the system, `needed` and `writable`
    alone: of other files it does not even see the names. `temporary` is a folder that stands for /tmp, which is
    otherwise an empty one in memory. `shared_memory` limits the bytes of /dev/shm.
    """

    writable: Sequence[Path]
    needed: Sequence[Path] = ()
    devices: bool = False
    network: bool = False
    only_system: bool = False
    temporary: Path | None = None
    shared_memory: int = 0

    def around(self, command: Sequence[str], cwd: Path) -> list[str]:
        """Return the command that runs `command` in the sandbox."""
        options = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        options += ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        options += [*(() if self.network else ("--unshare-net",)), *(self._system if self.only_system else self._all)]
        if self.shared_memory:
            options += ["--size", str(self.shared_memory), "--tmpfs", "/dev/shm"]
        if self.temporary is not None:
            options += ["--bind", str(self.temporary), "/tmp"]
        for path in self.needed:
            if self._is_hidden(path) and path.exists():
                options += ["--ro-bind", str(path), str(path)]
        for path in self.writable:
            options += ["--bind", str(path), str(path)]
        if self.only_system:  # else what is written beside the folders would be kept in memory
            options += ["--remount-ro", "/"]
        return [*options, "--chdir", str(cwd), "--", *command]

    def _is_hidden(self, path: Path) -> bool:
        if self.only_system:
            return not any(path.is_relative_to(name) for name in _SYSTEM)
        return any(path.is_relative_to(name) for name in _EMPTIED)

    @property
    def _devices(self) -> list[str]:
        return ["--dev-bind", "/dev", "/dev"] if self.devices else ["--dev", "/dev"]

    @property
    def _all(self) -> list[str]:
        options = ["--ro-bind", "/", "/", *self._devices, "--proc", "/proc"]
        for name in _EMPTIED:
            if os.path.isdir(name) and not os.path.islink(name):
                options += ["--tmpfs", name]
        for path in (Path.home() / name for name in _SECRETS):
            if path.exists():
                options += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        return options

    @property
    def _system(self) -> list[str]:
        options = []
        for name in _SYSTEM:
            if os.path.islink(name):  # /bin of most systems
                options += ["--symlink", os.readlink(name), name]
            elif os.path.isdir(name):
                options += ["--ro-bind", name, name]
        options += [*self._devices, "--proc", "/proc", *(word for name in _EMPTIED for word in ("--dir", name))]
        if self.network:  # /etc/resolv.conf is often a link into /run
            names = Path("/etc/resolv.conf").resolve()
            options += ["--ro-bind", str(names), str(names)] if self._is_hidden(names) and names.exists() else []
        return options


def interpreter_folders(python: Path) -> Iterator[Path]:
    """Yield the folders that an interpreter needs: its environment, and those of the interpreters that it links to."""
    for _ in range(20):
        yield python.parent.parent
        if not python.is_symlink():
            return
        python = python.parent / os.readlink(python)


def why_no_sandbox() -> str:
    """Return why programs cannot run in a sandbox here; "" if they can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not there: install it (apt install bubblewrap)"
    done = run(Sandbox(()).around(["true"], Path("/")), Path("/"), os.environ, 60)
    if done.exit_code == 0:
        return ""
    return f"bubblewrap cannot work here ({(done.stderr.strip() or done.internal_error).splitlines()[-1][:200]})"
