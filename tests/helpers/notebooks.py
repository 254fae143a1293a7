"""Notebooks for tests, as Jupyter writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def notebook(
    *cells: str, indent: int | None = 1, ascii_only: bool = False, tags: dict[int, list[str]] | None = None
) -> bytes:
    """Return a notebook with code cells; a text that begins with `# markdown` is one of text."""
    made = [_cell(text, (tags or {}).get(number, [])) for number, text in enumerate(cells, 1)]
    data = {"cells": made, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(data, indent=indent, ensure_ascii=ascii_only) + "\n").encode()


def _cell(text: str, tags: Sequence[str]) -> dict[str, Any]:
    about = {"tags": list(tags)} if tags else {}
    if text.startswith("# markdown"):
        return {"cell_type": "markdown", "metadata": about, "source": _lines(text)}
    output = {"name": "stdout", "output_type": "stream", "text": ["gr\u00fc\u00dfe\n"]}
    return {"cell_type": "code", "execution_count": 1, "metadata": about, "outputs": [output], "source": _lines(text)}


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
