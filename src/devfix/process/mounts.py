"""Make folders read-only for one process and its children, by mounts that nobody else sees; Linux alone.

Used by the keeper, before the program starts: standard library only.
"""

from __future__ import annotations

import ctypes
import os

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000  # unshare(2)
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18  # mount(2)
_KEPT = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME  # the same bits in mount(2)
_RELATIME = 1 << 21


def protect(paths: list[str]) -> None:
    """Make these files and folders read-only from here on; raise OSError where the system does not allow it."""
    user, group = os.getuid(), os.getgid()
    if user == 0:  # in a user namespace root would lose its right to files that belong to others
        _call("unshare", _NEW_MOUNTS)
    else:
        _call("unshare", _NEW_MOUNTS | _NEW_USER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _call("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
    for path in map(os.fsencode, paths):
        _call("mount", path, path, None, _BIND | _RECURSIVE, None)
        flags = os.statvfs(path).f_flag  # in a user namespace the flags that are there may not be taken away
        kept = flags & _KEPT | (_RELATIME if flags & os.ST_RELATIME else 0)
        _call("mount", None, path, None, _REMOUNT | _BIND | _READ_ONLY | kept, None)


def _call(name: str, *arguments: int | bytes | None) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
