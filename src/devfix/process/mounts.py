"""Keep a process and its children from changing files, by mounts that nobody else sees; Linux alone.

Used by the supervisor, before the program starts: standard library only.
"""

from __future__ import annotations

import ctypes
import os

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000  # unshare(2)
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18  # mount(2)
_KEPT = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME  # the same bits in mount(2)
_RELATIME = 1 << 21


def protect(paths: list[str], written: str) -> None:
    """Keep these files and folders as they are; raise OSError where the system does not allow it.

    What is written into a folder goes below the folder `written`, where the file systems can do that; else writing
    fails, as it does for a file.
    """
    user, group = os.getuid(), os.getgid()
    if user == 0:  # in a user namespace root would lose its right to files that belong to others
        _call("unshare", _NEW_MOUNTS)
    else:
        _call("unshare", _NEW_MOUNTS | _NEW_USER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _call("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
    for number, path in enumerate(paths):
        try:
            _lay_over(path, os.path.join(written, str(number)))
        except OSError:
            _make_read_only(os.fsencode(path))


def _lay_over(path: str, written: str) -> None:
    if not os.path.isdir(path) or set(path + written) & set(",:\\") or _has_mounts(path):
        raise OSError(f"{path}: nothing can be laid over it")
    for name in ("upper", "work"):
        os.makedirs(os.path.join(written, name))
    options = f"lowerdir={path},upperdir={written}/upper,workdir={written}/work{',userxattr' if os.getuid() else ''}"
    _call("mount", b"overlay", os.fsencode(path), b"overlay", 0, os.fsencode(options))


def _has_mounts(path: str) -> bool:
    """Say whether something is mounted inside: what is laid over a folder would hide it."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        return any(line.split()[4].startswith(f"{path}/") for line in lines)


def _make_read_only(path: bytes) -> None:
    _call("mount", path, path, None, _BIND | _RECURSIVE, None)
    flags = os.statvfs(path).f_flag  # in a user namespace the flags that are there may not be taken away
    kept = flags & _KEPT | (_RELATIME if flags & os.ST_RELATIME else 0)
    _call("mount", None, path, None, _REMOUNT | _BIND | _READ_ONLY | kept, None)


def _call(name: str, *arguments: int | bytes | None) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
