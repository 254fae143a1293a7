"""Check the relative links of all tracked Markdown files: the file exists, and so does the heading of an anchor.

Links to the network are not followed. `make docs` checks the same again when it renders the pages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def pages() -> list[Path]:
    """Return the tracked Markdown files, relative to the repository."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in listed.splitlines() if (ROOT / line).exists()]


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the target of each relative link and image of a page."""
    for token in MarkdownIt().enable("table").parse((ROOT / page).read_text("utf-8")):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target and not _EXTERNAL.match(str(target)):
                yield (token.map or [0])[0] + 1, unquote(str(target))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub names them."""
    found: dict[str, int] = {}
    tokens = MarkdownIt().parse((ROOT / page).read_text("utf-8"))
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            text = "".join(child.content for child in content.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
    return frozenset(
        f"{slug}-{number}" if number else slug for slug, last in found.items() for number in range(last + 1)
    )


def broken(page: Path) -> Iterator[str]:
    """Yield what is wrong with the links of a page, one line each."""
    for line, link in links(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page.parent / path).resolve() if path else ROOT / page
        if not target.is_relative_to(ROOT) or not target.exists():
            yield f"{page}:{line}: {link}: no such file in the repository"
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target.relative_to(ROOT))):
            yield f"{page}:{line}: {link}: no such heading"


def main() -> None:
    """Print each broken link; exit code 1 if there is one."""
    found = [problem for page in pages() for problem in broken(page)]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
