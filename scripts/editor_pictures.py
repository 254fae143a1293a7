"""Write the pictures of docs/how-to/editors.md from real sessions; `--check` shows the drift.

The pictures of terminals are SVG files. The one of a SARIF viewer is a PNG file, which `--browser FOLDER` writes with
Chromium and the packages @microsoft/sarif-web-component, react and react-dom in FOLDER/node_modules; the check is that
the SARIF file which it shows is still what devfix writes.
"""

from __future__ import annotations

import difflib
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "how-to" / "pictures"
WIDTH = 100
PROGRAM = {
    "model.py": """import torch


def classify(images, classes):
    weights = torch.ones(images.shape[1], classes)
    return images @ weights
""",
    "train.py": """import torch
from model import classify

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
images = torch.rand(4, 8).to(device)
print(classify(images, 2).shape)
""",
    "test_model.py": """import torch
from model import classify


def test_on_the_second_gpu():
    images = torch.rand(4, 8, device="cuda:1")
    assert classify(images, 2).device == images.device
""",
}
RUN = ["devfix", "run", "--world", "simulated", "--", "python", "train.py"]
TEST = ["pytest", "--gpus", "2", "--world", "simulated", "--tb=short", "-q"]
SARIF = ["devfix", "repair", "--run", "python train.py", "--world", "simulated", "--dry-run", "--format", "sarif"]
# As rich's own, but with a font of the system: the file needs no network.
_FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def files() -> dict[str, str]:
    """Return the content of each file that is written from a session."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project")
        folder.mkdir()
        for path, text in PROGRAM.items():
            (folder / path).write_text(text)
        identity = ["-c", "user.name=devfix", "-c", "user.email=devfix@localhost"]
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "program"]):
            subprocess.run(["git", *identity, *command], cwd=folder, check=True)
        return {
            "run.svg": _drawn(RUN, _shortened(_session(RUN, folder), folder)),
            "pytest.svg": _drawn(TEST, _shortened(_session([*TEST, "-p", "no:cacheprovider"], folder), folder)),
            "repair.sarif": subprocess.run(_words(SARIF), cwd=folder, stdout=subprocess.PIPE, text=True).stdout,
        }


def _words(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", *command]


def _session(command: Sequence[str], folder: Path) -> str:
    """Return what a terminal gets from a command."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "PYTHON_COLORS": "0"}
    environment.pop("NO_COLOR", None)
    streams = {"stdin": subprocess.DEVNULL, "stdout": follower, "stderr": follower}
    with subprocess.Popen(_words(command), cwd=folder, env=environment, **streams):  # type: ignore[call-overload]
        os.close(follower)
        shown = b""
        while data := _read(leader):
            shown += data
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # nobody has the other end open
        return b""


def _shortened(text: str, folder: Path) -> str:
    """Return a session without what changes between machines: a traceback's lines, marks below them, and seconds."""
    text = text.replace(str(folder.resolve()), "~/project")
    text = re.sub(r"(Traceback \(most recent call last\):\n)(  .*\n)+", r"\1  …\n", text)
    text = re.sub(r"^(?:\x1b\[[\d;]*m)*(?:E )? *(?:\x1b\[[\d;]*m)*[~^]+(?:\x1b\[[\d;]*m)*\n", "", text, flags=re.M)
    return re.sub(r" in [\d.]+s\b", "", text)


def _drawn(command: Sequence[str], text: str) -> str:
    """Return a session as SVG."""
    screen = Console(file=StringIO(), record=True, width=WIDTH, force_terminal=True, color_system="truecolor")
    screen.print(Text("$ " + " ".join(command)))
    screen.print(Text.from_ansi(text.strip("\n")))
    svg = screen.export_svg(title="", theme=DIMMED_MONOKAI, code_format=_FORMAT, unique_id="terminal")
    return re.sub(r" +$", "", svg, flags=re.M)


def drift(name: str, content: str) -> str:
    """Return how a file differs from what it should be, as a diff."""
    path = PICTURES / name
    now = path.read_text("utf-8") if path.is_file() else ""
    old, new = f"{name} as it is", f"{name} as it should be"
    return "".join(difflib.unified_diff(now.splitlines(True), content.splitlines(True), old, new, n=0))


def show_sarif(modules: Path) -> None:
    """Write the picture of the SARIF file in Microsoft's viewer component."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browsers import browser

    scripts = ("react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js")
    scripts += ("@microsoft/sarif-web-component/dist/index.js",)
    log = (PICTURES / "repair.sarif").read_text("utf-8").replace("</", "<\\/")
    loaded = "".join(
        f'<script src="{(modules / "node_modules" / name).resolve().as_uri()}"></script>' for name in scripts
    )
    page = f"""<!doctype html><meta charset="utf-8"><body style="margin: 0"><div id="viewer"></div>{loaded}<script>
    const Component = window.Viewer || Object.values(window).map(each => each && each.Viewer).find(Boolean);
    ReactDOM.render(React.createElement(Component, {{logs: [{log}]}}), document.getElementById("viewer"));
    </script>"""
    with tempfile.TemporaryDirectory() as name, browser() as session:
        (Path(name) / "page.html").write_text(page, "utf-8")
        session.open(Path(name) / "page.html", 1000)
        session.wait_for("requestAnimationFrame(() => setTimeout(done, 1000))")
        height = session.run("return document.getElementById('viewer').firstChild.scrollHeight")
        session.chromium(
            "Emulation.setDeviceMetricsOverride", width=1000, height=height, deviceScaleFactor=1, mobile=False
        )
        session.screenshot(PICTURES / "sarif.png")


def main() -> None:
    """Write the files, or check them."""
    if sys.argv[1:2] == ["--browser"]:
        show_sarif(Path(sys.argv[2]))
        return
    made = files()
    if sys.argv[1:] == ["--check"]:
        different = "".join(drift(name, content) for name, content in made.items())
        sys.stdout.write(different)
        sys.exit(f"pictures have drifted; to write them: python scripts/{Path(__file__).name}" if different else 0)
    PICTURES.mkdir(exist_ok=True)
    for name, content in made.items():
        (PICTURES / name).write_text(content, "utf-8")


if __name__ == "__main__":
    main()
