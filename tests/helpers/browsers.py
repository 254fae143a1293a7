"""Headless Chromium, driven by its WebDriver over HTTP."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "" if CHROMIUM and DRIVER else "Chromium is not there: apt-get install chromium chromium-driver"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
)  # fmt: skip


class Browser:
    """A session of the browser."""

    def __init__(self, address: str, folder: Path) -> None:
        options = {"binary": CHROMIUM, "args": [*_FLAGS, f"--user-data-dir={folder}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._address = address
        self._address += f"/session/{self._call('/session', capabilities={'alwaysMatch': wanted})['sessionId']}"

    def _call(self, path: str, **values: Any) -> Any:
        data = json.dumps(values).encode()
        request = urllib.request.Request(self._address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    def open(self, page: Path, width: int = 1280, dark: bool = False) -> None:
        """Open a file in a window of that width, in the light or the dark scheme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.chromium("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chromium("Emulation.setEmulatedMedia", features=[scheme])
        self.visit(page.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Open an address."""
        self._call("/url", url=address)

    def chromium(self, command: str, **values: Any) -> Any:
        """Send a command of Chromium's own protocol."""
        return self._call("/goog/cdp/execute", cmd=command, params=values)

    def run(self, script: str) -> Any:
        """Return what a function with this body returns in the page, by the debugger: no policy of the page applies."""
        return self._call("/execute/sync", script=script, args=[])

    def wait_for(self, script: str) -> Any:
        """Return what the page hands to the callback `done`."""
        return self._call("/execute/async", script=f"const done = arguments[0];\n{script}", args=[])

    def limit_scripts(self, seconds: float) -> None:
        """Let `wait_for` wait so long."""
        self._call("/timeouts", script=int(seconds * 1000))

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        keys = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._call("/actions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def messages(self) -> list[str]:
        """Return what the console has said since the last call: errors of scripts, refused requests."""
        return [each["message"] for each in self._call("/se/log", type="browser")]

    def screenshot(self, file: Path) -> None:
        """Save the whole page as a PNG file."""
        shown = self.chromium("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shown["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the driver and a session with an empty profile; both end with the block."""
    assert DRIVER is not None
    driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert driver.stdout is not None
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            ports = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
            port = next(found[1] for found in ports if found)
            session = Browser(f"http://127.0.0.1:{port}", Path(folder))
            try:
                yield session
            finally:
                urllib.request.urlopen(urllib.request.Request(session._address, method="DELETE")).close()
    finally:
        driver.terminate()
        driver.wait()
        driver.stdout.close()
