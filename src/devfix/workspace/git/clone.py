"""Clone a repository from an address into a new folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.process.tempdirs import temporary_folder
from devfix.workspace.git.command import Git, GitError
from devfix.workspace.git.network import patiently, settings

_SSH = re.compile(r"[\w.-]+@[\w.-]+:(?!//).+")  # git@host:owner/name


def is_address(text: str) -> bool:
    """Return whether a text is the address of a repository (https, ssh, file) and no path.

    >>> is_address("https://host/owner/name"), is_address("git@host:owner/name"), is_address("../name")
    (True, True, False)
    """
    return "://" in text or (_SSH.fullmatch(text) is not None and not Path(text).exists())


def clone(address: str, parent: Path) -> Path:
    """Clone a repository into a new folder of `parent` that has its name, and return that.

    The folder appears when the clone is complete; an existing one is taken only if it is empty. Credentials are neither
    sent nor asked for. Raises UserError if it cannot be cloned.
    """
    target = parent / _name(address)
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UserError(f"{target}: already there; give that folder in place of the address, or use another one")
    try:
        network = settings(address, None)
    except UserError as error:
        raise UserError(f"{hide_user(address)}: {error}") from error
    with temporary_folder("clone", parent) as scratch:
        git = Git(scratch, {"GIT_TERMINAL_PROMPT": "0"}).also(**network)
        inner = scratch / target.name
        advice = "clone it yourself, and give the folder"
        try:
            patiently(lambda: git.call("clone", "--quiet", "--", address, str(inner)), address, advice)
        except GitError as error:
            raise UserError(f"{address}: cannot be cloned ({reason(error)})") from error
        os.rename(inner, target)
    return target


def _name(address: str) -> str:
    path = urlsplit(address).path if "://" in address else address.partition(":")[2]
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    if not name or name.startswith((".", "-")):
        raise UserError(f"{hide_user(address)}: names no repository")
    return name


def reason(error: GitError) -> str:
    """Return why git failed, in one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    return (fatal[0] if fatal else error.line)[:300]


def hide_user(address: str) -> str:
    """Return an address without the name and the password in it."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", address)
