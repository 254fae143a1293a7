"""The device map of a run: the devices of its modules, and the lines that copied between host and devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from devfix.model import is_on_gpu
from devfix.report.plain import one_line, plain, short_path
from devfix.report.types import ModuleRecord, RunReport, TransferRecord

_ROWS = 40  # lines that copied, the busiest first


def device_map(data: RunReport) -> Iterator[RenderableType]:
    """Yield the modules of a run's record as trees, then the copies by source line."""
    yield Text("Modules, with the devices of their parameters and buffers:", style="bold")
    yield from _trees(data.modules) if data.modules else (Text("  none observed"),)
    yield Text("\nCopies between host and devices, by source line:", style="bold")
    yield _copies(data.transfers) if data.transfers else Text("  none")


def _trees(modules: Sequence[ModuleRecord]) -> Iterator[Tree]:
    """Nest each module below the one whose expression is the longest beginning of its own."""
    nodes: dict[str, Tree] = {}
    for module in modules:
        name = module.expression
        above = next((nodes[start] for start in beginnings(name) if start in nodes), None)
        label = _label(name, module)
        if above is None:
            nodes[name] = Tree(label, guide_style="dim")
            yield nodes[name]
        else:
            nodes.setdefault(name, above.add(label))


def beginnings(expression: str) -> Iterator[str]:
    """Yield "a.b" and "a" for "a.b[0]", longest first."""
    for end in range(len(expression) - 1, 0, -1):
        if expression[end] in ".[":
            yield expression[:end]


def _label(name: str, module: ModuleRecord) -> Text:
    devices = module.tensors or ({module.device: 0} if module.device else {})
    where = ", ".join(
        f"{plain(device)} ({count})" if count else plain(device) for device, count in sorted(devices.items())
    )
    style = "red" if len(devices) > 1 else "green" if is_on_gpu(next(iter(devices), "")) else "yellow"
    return Text.assemble(one_line(name, 80), (f" {one_line(module.type, 60)}", "dim"), "  ", (where, style))


def _copies(transfers: Sequence[TransferRecord]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for title in ("copies", "size", "direction", "line"):
        table.add_column(title, justify="right" if title in ("copies", "size") else "left")
    for transfer in sorted(transfers, key=lambda each: (-each.count, -each.bytes))[:_ROWS]:
        place = f"{short_path(transfer.path)}:{transfer.line}"
        source = Text.assemble(place, ("  " + one_line(transfer.source, 80), "cyan"))
        cells = (str(transfer.count), size(transfer.bytes), plain(transfer.direction))
        table.add_row(*map(Text, cells), source)
    if len(transfers) > _ROWS:
        table.add_row("", "", "", f"and {len(transfers) - _ROWS} more lines")
    return table


def size(count: int) -> str:
    """Return a number of bytes with its unit: "512 B", "3.1 MiB"."""
    if count < 1024:
        return f"{count} B"
    scaled, units = float(count), iter(("KiB", "MiB", "GiB", "TiB"))
    unit = ""
    while scaled >= 1024 and unit != "TiB":
        scaled, unit = scaled / 1024, next(units)
    return f"{scaled:.1f} {unit}"
