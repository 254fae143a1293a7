"""JSON schemas that allow no other keys."""

from __future__ import annotations

from typing import Any


def closed(node: Any) -> Any:
    """Return a schema that allows no member it does not name: what we write must all be described."""
    if isinstance(node, dict):
        node = {key: closed(value) for key, value in node.items()}
        if "properties" in node and "additionalProperties" not in node:
            node["additionalProperties"] = False
    return node
