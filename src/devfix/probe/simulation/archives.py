"""Archives of scripted modules: find the device of their tensors in the pickle that they contain."""

from __future__ import annotations

import io
import pickletools
from typing import Any

import torch

from .accelerators import kinds

_NUMBER = frozenset({"BININT", "BININT1", "BININT2", "LONG1"})
Step = tuple[str, Any, int]  # an instruction's name, argument and position


def move_archive(data: bytes, device: str, *, frozen: bool = False) -> bytes:
    """Return an archive whose tensors are on the CPU as one whose tensors are on `device`.

    Those of a frozen module are constants of its code.
    """
    renamed = "constants.pkl" if frozen else "data.pkl"
    reader = torch._C.PyTorchFileReader(io.BytesIO(data))
    written = io.BytesIO()
    writer = torch._C.PyTorchFileWriter(written)
    place = next(name for name in ("version", ".data/version") if name in reader.get_all_records())  # by version
    writer.set_min_version(int(reader.get_record(place)))
    for name in reader.get_all_records():
        if name == "version" or name.startswith(".data/"):
            continue  # created by the writer
        record = reader.get_record(name)
        if name == renamed:
            record = _rename_device(record, device)
        writer.write_record(name, record, len(record))
    writer.write_end_of_file()
    return written.getvalue()


def device(data: bytes) -> str:
    """Return the device of all tensors of an archive; "cpu" if it cannot be determined, or is not a GPU."""
    try:
        reader = torch._C.PyTorchFileReader(io.BytesIO(data))
        records = [reader.get_record(name) for name in ("data.pkl", "constants.pkl")]
    except RuntimeError:
        return "cpu"  # C++ reports the error
    found = next(filter(None, ({text for text, _ in _devices(record)} for record in records)), set())
    if len(found) > 1 and any(text.startswith(kinds.now().name) for text in found):
        raise NotImplementedError("a script on several devices cannot be loaded on simulated GPUs: give a map_location")
    return found.pop() if len(found) == 1 else "cpu"


def _devices(record: bytes) -> list[tuple[str, int]]:
    """Return the device of each storage, and the position of the instruction for it among those of its kind."""
    steps, memory = _steps(record)
    return [
        (str(memory.get(steps[at - 3][1], "")) if "GET" in steps[at - 3][0] else str(steps[at - 3][1]), at - 3)
        for at, (name, _, _) in enumerate(steps)
        if name == "BINPERSID" and at >= 3 and steps[at - 2][0] in _NUMBER
    ]


def _steps(record: bytes) -> tuple[list[Step], dict[int, Any]]:
    """Return the instructions of a pickle without those for the memo, and the contents of the memo."""
    steps: list[Step] = []
    memory: dict[int, Any] = {}
    for opcode, argument, position in pickletools.genops(record):
        if "PUT" in opcode.name:
            memory[int(argument or 0)] = steps[-1][1]
        else:
            steps.append((opcode.name, argument, int(position or 0)))
    return steps, memory


def _rename_device(record: bytes, device: str) -> bytes:
    steps, memory = _steps(record)
    named = {at for _, at in _devices(record)}
    said = [
        at
        for at, (name, argument, _) in enumerate(steps)
        if (memory.get(argument) if "GET" in name else argument) == "cpu"
    ]
    if not named.issuperset(said):
        raise NotImplementedError("a script that holds the word 'cpu' cannot be saved while it is on a simulated GPU")
    for at in reversed([at for at in said if "GET" not in steps[at][0]]):
        old, new = (b"X" + len(text).to_bytes(4, "little") + text for text in (b"cpu", device.encode()))
        position = steps[at][2]
        record = record[:position] + new + record[position + len(old) :]
    return record
