"""Files of recordings: each text is written once, and rows name it by its place in the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write(file: Path, recorded: dict[str, Any]) -> None:
    """Write a recording, an operator a line."""
    texts: dict[str, int] = {}
    pairs = {}
    for pair, found in sorted(recorded["operators"].items()):
        lines = []
        for name, rows in sorted(found.items()):
            grouped: dict[int, list[str]] = {}
            for row, text in rows.items():
                grouped.setdefault(texts.setdefault(text, len(texts)), []).append(row)
            lines.append(f"{json.dumps(name)}: {json.dumps(grouped)}")
        pairs[pair] = "{\n" + ",\n".join(lines) + "\n}"
    rest = {name: value for name, value in sorted(recorded.items()) if name != "operators"}
    parts = [f"{json.dumps(name)}: {json.dumps(value, indent=1, sort_keys=True)}" for name, value in rest.items()]
    parts.append('"texts": ' + json.dumps(list(texts), indent=0))
    parts.append('"operators": {\n' + ",\n".join(f"{json.dumps(pair)}: {text}" for pair, text in pairs.items()) + "\n}")
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def read(file: Path) -> dict[str, Any]:
    """Return a recording with the text of each row in its place."""
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    texts = told.pop("texts")
    for found in told["operators"].values():
        for name, grouped in found.items():
            found[name] = {row: texts[int(place)] for place, rows in grouped.items() for row in rows}
    return told
