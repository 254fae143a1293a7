"""What the parts of the small GitHub share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

OWNER, NAME, TOKEN, READER = "ada", "model", "ghs_write0123456789", "ghs_read0123456789"
BOT = "github-actions[bot]"
Answer = tuple[int, Any]


@dataclass
class Fault:
    """What is answered instead, once: at the first request that fits; `after` does what was asked for before."""

    method: str
    path: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    message: str = "a fault"


def page_of(rows: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
    return rows[(page - 1) * size : page * size]


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def user(name: str) -> dict[str, str]:
    return {"login": name, "type": "Bot" if name.endswith("[bot]") else "User"}
