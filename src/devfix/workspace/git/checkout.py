"""Check out one commit of a remote repository, whose objects are kept on this machine for the next time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devfix.errors import DevfixError, UserError
from devfix.process import Completed, LimitKind, ResourceLimits, run
from devfix.process.tempdirs import remove
from devfix.workspace.git.clone import hide_user
from devfix.workspace.git.command import harmless_command, harmless_environment
from devfix.workspace.git.network import settings

_REF = "refs/devfix/wanted"


class CheckoutError(DevfixError):
    """A commit cannot be checked out; `limit` says whether "time" or "disk" is over, "" for any other reason."""

    def __init__(self, message: str, limit: str = "") -> None:
        """Keep the reason, in one line."""
        super().__init__(message)
        self.limit = limit


def check_out_commit(
    address: str, reference: str, commit: str, cache: Path, folder: Path, seconds: float, disk: int
) -> None:
    """Check a commit out into a new folder, a repository of its own with this commit alone.

    The commit is fetched into a bare repository below `cache`, one for each address, if it is not there yet; of the
    objects there the new repository has copies, so that nobody can change them. `reference` is fetched where the server
    gives no single commits. Git runs below a supervisor, for `seconds` and with `disk` bytes for each of the two.
    Credentials are neither sent nor asked for. Raises CheckoutError.
    """
    deadline, limits = time.monotonic() + seconds, ResourceLimits(file_size=2 * disk, disk=disk)
    store = cache / f"{hashlib.sha256(address.encode()).hexdigest()[:32]}.git"
    try:
        network = settings(address, None)
    except UserError as error:
        raise CheckoutError(f"{hide_user(address)}: {error}") from error
    local = {"GIT_ALLOW_PROTOCOL": "file"}
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock(store):
        calls = _Calls(store, network, deadline, limits, hide_user(address))
        if not calls.ends_well("cat-file", "-e", f"{commit}^{{commit}}"):
            try:
                _fetch(calls, address, reference, commit)
            except CheckoutError as error:
                if error.limit:
                    remove(store)
                raise
        folder.mkdir(mode=0o700)
        calls = _Calls(folder, local, deadline, limits, hide_user(address))
        calls.call("init", "--quiet", "--template=", "--initial-branch=main", ".")
        calls.call("fetch", "--quiet", "--no-tags", "--depth=1", f"file://{store}", f"{commit}:{_REF}")
    calls.call("update-ref", "refs/heads/main", commit)
    calls.call("remote", "add", "origin", hide_user(address))
    calls.call("reset", "--quiet", "--hard", commit)


def _fetch(calls: _Calls, address: str, reference: str, commit: str) -> None:
    store = calls.folder
    store.mkdir(mode=0o700, exist_ok=True)
    calls.call("init", "--quiet", "--bare", "--template=", ".")
    calls.call("config", "uploadpack.allowAnySHA1InWant", "true")
    fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--", address)
    done = calls.run_git(*fetch, f"+{commit}:{_REF}")
    if done.exit_code == 0:
        return
    if done.exit_code is not None and ("unadvertised object" in done.stderr or "not our ref" in done.stderr):
        calls.call(*fetch, f"+{reference or 'HEAD'}:{_REF}")
        if calls.ends_well("cat-file", "-e", f"{commit}^{{commit}}"):
            return
        raise CheckoutError(f"{calls.shown}: has no commit {commit[:12]} at {reference or 'HEAD'} any more")
    calls.check(done, "fetch")


class _Calls:
    """Git in one folder, below a supervisor; `shown` is the address in messages."""

    def __init__(
        self, folder: Path, network: dict[str, str], deadline: float, limits: ResourceLimits, shown: str
    ) -> None:
        self.folder, self.shown = folder, shown
        self._network, self._deadline, self._limits = network, deadline, limits

    def run_git(self, *arguments: str) -> Completed:
        left = max(0.1, self._deadline - time.monotonic())
        environment = harmless_environment(self._network)
        return run(harmless_command(arguments), self.folder, environment, left, self._limits)

    def ends_well(self, *arguments: str) -> bool:
        return self.folder.is_dir() and self.run_git(*arguments).exit_code == 0

    def call(self, *arguments: str) -> None:
        self.check(self.run_git(*arguments), arguments[0])

    def check(self, done: Completed, what: str) -> None:
        if done.exit_code == 0:
            return
        if done.timed_out:
            raise CheckoutError(f"{self.shown}: git {what} did not end in the time of the job", "time")
        is_full = done.limit is LimitKind.DISK or "File too large" in done.stderr or done.signal == "SIGXFSZ"
        if is_full or "No space left" in done.stderr:
            raise CheckoutError(f"{self.shown}: git {what} needs more disk than the job may take", "disk")
        raise CheckoutError(f"{self.shown}: {_why(done.stderr) or done.internal_error or f'git {what} failed'}")


def _why(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    return ((fatal or lines or [""])[0])[:300]


@contextmanager
def _lock(store: Path) -> Iterator[None]:
    """Keep others that need the same repository waiting; the lock of a killed one is free."""
    descriptor = os.open(store.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
