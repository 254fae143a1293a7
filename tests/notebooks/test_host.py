"""Notebooks in real kernels: what cells print, how errors are named, and what ends a run."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from notebooks import notebook

from devfix.notebooks import HOST

pytest.importorskip("ipykernel", reason="notebooks run in ipykernel")
pytestmark = pytest.mark.slow


# The thread that sends output does not end before the control thread waits at the closed end of its pipe.
LATE_ANSWER = """\
import sys, threading, time
from ipykernel.kernelapp import IPKernelApp

app = IPKernelApp.instance()
output, closed = app.iopub_thread.io_loop, threading.Event()
answer, close = app.kernel.control_handlers["shutdown_request"], output.close

async def answer_late(*message):
    await answer(*message)
    closed.wait()

def names(frame):
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back

def end_late(all_fds=False):
    close(all_fds)
    closed.set()
    while "schedule" not in names(sys._current_frames()[app.control_thread.ident]):
        time.sleep(0.01)
    time.sleep(0.2)

app.kernel.control_handlers["shutdown_request"], output.close = answer_late, end_late
print("staged")
"""


def run(folder: Path, *cells: str, tags: dict[int, list[str]] | None = None) -> subprocess.CompletedProcess[str]:
    (folder / "nb.ipynb").write_bytes(notebook(*cells, tags=tags))
    command = [sys.executable, str(HOST), "nb.ipynb"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=waiting.HANGS)


def test_cells_print_and_show_values_in_order(tmp_path: Path) -> None:
    text = (
        "# markdown",
        "%env A=1\n!echo one \\\n  two\nx = 3\nx",
        "import asyncio\nawait asyncio.sleep(0)\nprint(x + 1)",
    )
    done = run(tmp_path, *text)
    assert (done.returncode, done.stdout.split()) == (0, ["env:", "A=1", "one", "two", "3", "4"])
    assert [path.name for path in tmp_path.iterdir()] == ["nb.ipynb"]


def test_an_error_names_the_lines_of_cells(tmp_path: Path) -> None:
    (tmp_path / "other.ipynb").write_bytes(notebook("# markdown", "\n\ndef half(x):\n    return x / 0"))
    done = run(tmp_path, "%run other.ipynb", "%%time\n\ny = 1\nhalf(y)", "print('not run')")
    frames = [line.strip() for line in done.stderr.splitlines() if ".ipynb[" in line]
    place = f'  File "{tmp_path}/'.strip()
    assert done.returncode == 1 and "not run" not in done.stdout
    assert f'{place}nb.ipynb[cell 2]", line 4, in <module>' in frames
    assert frames[-1] == f'{place}other.ipynb[cell 2]", line 4, in half'


def test_expected_errors_and_skipped_cells(tmp_path: Path) -> None:
    tags = {1: ["raises-exception"], 2: ["skip-execution"]}
    done = run(tmp_path, "1 / 0", "print('skipped')", "print('last')", tags=tags)
    assert (done.returncode, done.stdout) == (0, "last\n") and "nb.ipynb[cell 1]" in done.stderr


def test_head_cells_of_colab_and_kaggle_do_not_end_it(tmp_path: Path) -> None:
    colab = (
        "!pip install -q no-such-package-of-tests\nfrom google.colab import drive, userdata\ndrive.mount('/content')"
    )
    kaggle = "import os\nfor folder, _, names in os.walk('/kaggle/input'):\n    print(folder)"
    done = run(tmp_path, colab, kaggle, "print(userdata.get('NO_SUCH_NAME'))")
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert "not run, the environment stays as it is: pip install" in done.stderr


def test_a_notebook_that_asks_whether_it_is_on_colab_is_told_that_it_is_not(tmp_path: Path) -> None:
    asks = "try:\n    import google.colab\n    there = True\nexcept ImportError:\n    there = False\nprint(there)"
    assert run(tmp_path, asks).stdout == "False\n"


def test_a_killed_kernel_ends_the_run_by_its_signal(tmp_path: Path) -> None:
    done = run(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL


def test_a_kernel_whose_threads_end_in_another_order_ends(tmp_path: Path) -> None:
    done = run(tmp_path, LATE_ANSWER)
    assert (done.returncode, done.stdout) == (0, "staged\n")
