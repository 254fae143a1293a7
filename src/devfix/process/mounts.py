"""Protect files from a process and its children by mounts that only they see; Linux only.

Used by the supervisor before the program starts: standard library only.
"""

from __future__ import annotations

import ctypes
import os

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000  # unshare(2)
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18  # mount(2)
_KEPT = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME  # the same bits in mount(2)
_RELATIME = 1 << 21


def protect(paths: list[str], written: str) -> None:
    """Protect files and folders from changes. Raises OSError if the system does not allow it.

    Writes into a folder go below the folder `written` if the file systems support that; otherwise they fail, as they do
    for a file.
    """
    user, group = os.getuid(), os.getgid()
    if user == 0:  # in a user namespace root would lose access to files of others
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
    """Return whether something is mounted inside, which an overlay on the folder would hide."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        return any(line.split()[4].startswith(f"{path}/") for line in lines)


def _make_read_only(path: bytes) -> None:
    _call("mount", path, path, None, _BIND | _RECURSIVE, None)
    flags = os.statvfs(path).f_flag  # in a user namespace existing flags must not be removed
    kept = flags & _KEPT | (_RELATIME if flags & os.ST_RELATIME else 0)
    _call("mount", None, path, None, _REMOUNT | _BIND | _READ_ONLY | kept, None)


def _call(name: str, *arguments: int | bytes | None) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
