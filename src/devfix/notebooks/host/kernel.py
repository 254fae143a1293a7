"""The kernel in which a notebook's cells run: ipykernel's, with frames that name the notebook.

IPython compiles a cell under a name of its own. Here each cell is compiled under the notebook's path, with the line
numbers of the notebook's script (`devfix.notebooks`): tracebacks and the probe need no other knowledge of cells.
"""

from __future__ import annotations

import atexit
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_PACKAGE = "devfix notebooks"  # no import statement can ask for a module of this name
_FOLDER = Path(__file__).resolve().parents[1]


def run(notebook: str, connection: str, options: list[str]) -> None:
    """Run the kernel until the client asks for its end; `connection` is the file in which it says how it is reached."""
    _load_package()
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize(["-f", connection, "--HistoryManager.enabled=False", *options])
    _leave_sockets_open(app)
    shell = sys.modules[f"{_PACKAGE}.host.shell"]
    shell.prepare(app.shell, notebook)
    app.start()


def _leave_sockets_open(app: Any) -> None:
    """Let the end of the process close the kernel's sockets.

    ipykernel closes them at exit, one thread after the other. It waits for the control thread without a limit, and
    that waits forever if it answers the last request while the thread that sends output ends.
    """
    atexit.unregister(app.close)


def _load_package() -> None:
    """Load the package of notebooks from its folder, without devfix."""
    spec = spec_from_file_location(_PACKAGE, str(_FOLDER / "__init__.py"), submodule_search_locations=[str(_FOLDER)])
    assert spec is not None and spec.loader is not None
    sys.modules[_PACKAGE] = package = module_from_spec(spec)
    spec.loader.exec_module(package)
    __import__(f"{_PACKAGE}.host.shell")
