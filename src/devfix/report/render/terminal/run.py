"""One run of a program, as a record and as text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from devfix.model import DeviceType, Run
from devfix.report.failure_record import failure_record, place_from, seen_from, world_record
from devfix.report.gpus_needed import gpus_of_run, gpus_sentence
from devfix.report.plain import one_line, plain, short_path
from devfix.report.record import map_record
from devfix.report.render.terminal.devices import device_map
from devfix.report.render.terminal.headline import world
from devfix.report.render.terminal.text import diagnosis, render_text
from devfix.report.source_lines import Lines, no_lines
from devfix.report.types import RunReport


def run_record(run: Run, command: str, lines: Lines = no_lines) -> RunReport:
    """Return the record "devfix-run/1" (run.json) of a run; `lines` gives the source as for a report's record."""
    mapped = map_record(run, lines)
    return RunReport(
        outcome=run.outcome,
        world=world_record(run.world),
        command=command,
        exit_code=run.exit_code,
        signal=run.signal,
        seconds=round(run.seconds, 3),
        torch=run.torch,
        failure=failure_record(run.failure, (), lines) if run.failure and run.failure.kind != "other" else None,
        modules=mapped.modules,
        transfers=mapped.transfers,
        internal_errors=run.internal_errors,
        notes=run.notes,
        gpus_needed=gpus_of_run(run),
        obstacle=run.obstacle,
    )


def run_text(data: RunReport, with_map: bool = False, color: bool = False, width: int = 100, folder: str = "") -> str:
    """Return the diagnosis, the notes and the device map of a run as text; "" if there are none.

    Paths are relative to `folder`, which is relative to the repository.
    """
    if folder not in ("", "."):
        data = replace(
            data,
            failure=seen_from(data.failure, folder) if data.failure else None,
            transfers=tuple(place_from(each, folder) for each in data.transfers),
        )
    parts = list(_parts(data, with_map))
    return render_text(Group(*parts), color, width) if parts else ""


def _parts(data: RunReport, with_map: bool) -> Iterator[RenderableType]:
    if data.failure:
        at = data.failure.at
        where = f" at {short_path(at.path)}:{at.line}" if at else ""
        yield Text(f"\nDevice failure on {world(data.world)}{where}", style="bold red")
        yield from diagnosis(data.failure)
        if not data.gpus_needed:
            gpus = f" --gpus {data.world.gpus}" if data.world.gpus > 1 else ""
            device = data.world.device
            kind = "" if device is DeviceType.CUDA else f" --world {device.value}"
            yield Text(f"\nTo repair it: devfix repair{kind}{gpus} --run {shlex.quote(one_line(data.command, 400))}")
    if needed := data.gpus_needed:
        yield Text()
        yield Text(f"note: {gpus_sentence(needed)}")
    if obstacle := data.obstacle:
        yield Text(f"\nUnrelated to devices: {one_line(obstacle.message, 400)}.", style="bold red")
        yield Text("Suggestion: " + one_line(obstacle.advice, 400))
    if with_map:
        yield Text()
        yield from device_map(data)
    for note in (*data.internal_errors, *data.notes):
        yield Text.assemble(("note: ", "yellow"), plain(note))
