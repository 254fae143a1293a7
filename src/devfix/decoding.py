"""Decode data into records whose fields have types, from any thread.

msgspec learns the fields of a dataclass the first time that one is decoded, and puts what it has learned on the class
before it is complete. A second thread that decodes the same class meanwhile reads types that are not there yet, and the
process dies of SIGSEGV (seen with msgspec 0.22.0). A lock costs nothing, since msgspec holds the GIL as it decodes.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar, overload

_LOCK = threading.RLock()  # a record may decode others as it is made
Record = TypeVar("Record")


@overload
def convert(data: object, kind: type[Record]) -> Record: ...
@overload
def convert(data: object, kind: Any) -> Any: ...
def convert(data: object, kind: Any) -> Any:
    """Return plain data, such as `json.loads` gives, as a type. Raises msgspec.ValidationError if it does not fit."""
    import msgspec  # late, since `devfix --help` decodes nothing

    with _LOCK:
        return msgspec.convert(data, kind)


def decode_json(text: bytes, kind: type[Record]) -> Record:
    """Return JSON as a type. Raises msgspec.DecodeError for what is not JSON or does not fit."""
    import msgspec

    with _LOCK:
        return msgspec.json.decode(text, type=kind)


def decode_msgpack(data: bytes, kind: type[Record]) -> Record:
    """Return MessagePack as a type. Raises msgspec.DecodeError for what is not MessagePack or does not fit."""
    import msgspec

    with _LOCK:
        return msgspec.msgpack.decode(data, type=kind)
