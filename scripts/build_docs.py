"""Build the documentation as a web site in build/docs/site; any warning is an error (docs/adr/0016-documentation.md).

Pages link to rules' pages, workflows and other files outside of docs/, as on a forge. So the site's sources are a copy
of all tracked Markdown files and the files that they link to, with the folders of the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check_links import ROOT, broken, links, pages
from markdown_it import MarkdownIt

SOURCE = ROOT / "build" / "docs" / "source"
_PAGES = re.compile(r"^<!-- pages: .*-->$", re.MULTILINE)
_INFO = re.compile(r"^(`{3,})(\w+) (.+)$")


def copy_sources() -> None:
    """Copy the pages and the files that they link to."""
    shutil.rmtree(SOURCE.parent, ignore_errors=True)
    for page in pages():
        text = titled_blocks((ROOT / page).read_text("utf-8"))
        _target(page).write_text(_PAGES.sub(lambda _, page=page: listed(page.parent), text), "utf-8")
        for _, link in links(page):
            linked = (ROOT / page.parent / link.partition("#")[0]).resolve()
            if linked.is_file() and linked.suffix != ".md":
                shutil.copyfile(linked, _target(linked.relative_to(ROOT)))


def listed(folder: Path) -> str:
    """Return a list of the pages in a folder, by their titles."""
    found = [page for page in pages() if page.parent == folder and page.name != "README.md"]
    titles = {page: (ROOT / page).read_text("utf-8").partition("\n")[0].removeprefix("# ") for page in found}
    return "\n".join(f"- [{title.replace('. ', ': ', 1)}]({page.name})" for page, title in titles.items())


def titled_blocks(text: str) -> str:
    """Turn the words after a code block's language into its title: rules' pages have blocks like "python before"."""
    lines = text.split("\n")
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.map and (match := _INFO.match(lines[token.map[0]])):
            lines[token.map[0]] = f'{match[1]}{match[2]} title="{match[3]}"'
    return "\n".join(lines)


def _target(path: Path) -> Path:
    target = SOURCE / path
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def main() -> None:
    """Check the links, copy the sources and run the generator."""
    if problems := [problem for page in pages() for problem in broken(page)]:
        sys.exit("\n".join(problems))
    if sys.version_info < (3, 11):
        sys.exit(
            "zensical, the generator, needs Python 3.11 or newer: make clean && make docs PYTHON=/path/to/python3.12"
        )
    copy_sources()
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    sys.exit(subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}).returncode)


if __name__ == "__main__":
    main()
