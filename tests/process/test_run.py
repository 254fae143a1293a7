"""Programs: bounded in time and output, their ends told as data, and none of their processes left; with real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from living_processes import living
from waiting import HANGS, until, with_enough_time

from devfix.process import Completed, ResourceLimits, child_environment, run


def sh(script: str, timeout: float = HANGS, **limits: int) -> Completed:
    return run(["sh", "-c", script], Path("/"), child_environment(), timeout, ResourceLimits(**limits))


def python(script: str, timeout: float = HANGS) -> Completed:
    return run([sys.executable, "-c", script], Path("/"), child_environment(), timeout)


def test_what_it_prints_and_how_it_ends() -> None:
    began = time.monotonic()
    done = sh("echo out; echo err >&2; exit 3")
    outside = time.monotonic() - began
    assert (done.exit_code, done.signal, done.timed_out, done.truncated, done.internal_error) == (
        3,
        "",
        False,
        False,
        "",
    )
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert 0 < done.seconds <= outside
    assert sh("printf 'caf\\351'").stdout == "caf\\xe9"


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGTERM", "SIGPIPE"])
def test_death_by_a_signal_has_its_name(name: str) -> None:
    done = sh(f"kill -{name[3:]} $$")
    assert (done.exit_code, done.signal, done.internal_error) == (None, name, "")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["no-such-command"], "cannot start 'no-such-command': No such file"),
        (["./missing"], "No such file"),
        (["/"], "Permission denied"),
        ([], "the command is empty"),
        (["a\0b"], "cannot start"),
        (["true", "x" * 3_000_000], "Argument list too long"),
    ],
)
def test_what_cannot_start_is_data(command: list[str], told: str, tmp_path: Path) -> None:
    done = run(command, tmp_path, child_environment(), HANGS)
    assert told in done.internal_error
    assert (done.exit_code, done.timed_out) == (None, False)


def test_a_folder_that_is_not_there_is_data(tmp_path: Path) -> None:
    assert "missing" in run(["true"], tmp_path / "missing", child_environment(), HANGS).internal_error


def test_a_relative_command_starts_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "go").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "go").chmod(0o755)
    assert run(["./go"], tmp_path, child_environment(), HANGS).stdout == f"{tmp_path}\n"


def test_time_limit_ends_what_ignores_signals() -> None:
    deaf = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nprint('deaf', flush=True)"
    forever = f"{deaf}\nwhile True: signal.pause()"
    done = with_enough_time(lambda seconds: python(forever, seconds), lambda done: "deaf" in done.stdout, 0.5)
    assert (done.timed_out, done.exit_code, done.signal, done.stdout) == (True, None, "", "deaf\n")
    assert done.seconds >= 0.5


@pytest.mark.slow
def test_output_without_end_is_kept_head_and_tail() -> None:
    forever = "echo first; yes; echo never"
    done = with_enough_time(lambda seconds: sh(forever, seconds, output_limit=1000), lambda done: done.truncated, 1)
    assert done.timed_out and done.truncated
    assert done.stdout.startswith("first\ny\n") and done.stdout.endswith("y\n")
    assert len(done.stdout) < 1100
    done = sh("seq 100000; echo last", output_limit=1000)
    assert done.stdout.startswith("1\n2\n") and done.stdout.endswith("\n100000\nlast\n") and "left out" in done.stdout
    assert done.exit_code == 0


def test_standard_input_is_empty_and_the_environment_exact() -> None:
    done = run(["/usr/bin/env"], Path("/"), {"ONE": "1"}, HANGS)
    assert done.stdout == "ONE=1\n"
    assert sh("cat; echo end").stdout == "end\n"


def test_through_has_our_own_output(capfd: pytest.CaptureFixture[str]) -> None:
    done = run(["sh", "-c", "echo out; echo err >&2"], Path("/"), child_environment(), HANGS, through=True)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert capfd.readouterr() == ("out\n", "err\n")


# Each tells by the pipe UP that it is there, before the program ends.
ESCAPES = {
    "background": '(echo up >"$UP"; exec sleep 6000) &',
    "session": """setsid sh -c 'echo up >"$UP"; exec sleep 6000' &""",
    "daemon": """(setsid sh -c '(echo up >"$UP"; exec sleep 6000) & exit' >/dev/null 2>&1 &)""",
    "deaf": """(trap '' TERM HUP INT; setsid sh -c 'echo up >"$UP"; while :; do sleep 6000; done' &)""",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize("end", ["exit 0", "sleep 6000", "kill -9 $$"])
@pytest.mark.parametrize("escape", ESCAPES)
def test_no_process_survives(escape: str, end: str, tmp_path: Path) -> None:
    mark = str(uuid.uuid4())
    environment = {**child_environment(), "MARK": mark, "UP": str(tmp_path / "up")}
    os.mkfifo(tmp_path / "up")
    script = f'{ESCAPES[escape]}\nread -r word <"$UP"; echo "$word"; {end}'
    forever = end.startswith("sleep")
    done = with_enough_time(
        lambda seconds: run(["sh", "-c", script], Path("/"), environment, seconds),
        lambda done: done.stdout == "up\n",
        1 if forever else HANGS,
    )
    assert done.timed_out == forever and done.stdout == "up\n"
    assert living(mark) == []


FORKS = """
import os
print("forking", flush=True)
for _ in range(8):
    os.fork()
while True:
    if not os.fork():
        os.setsid()
        os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_what_forks_without_end_is_ended() -> None:
    mark = str(uuid.uuid4())
    done = with_enough_time(
        lambda seconds: run([sys.executable, "-c", FORKS], Path("/"), {**child_environment(), "MARK": mark}, seconds),
        lambda done: "forking" in done.stdout,
        1,
    )
    assert done.timed_out and not done.internal_error
    assert living(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_devfix_itself(number: signal.Signals) -> None:
    mark = str(uuid.uuid4())
    program = f"setsid sleep 6000 & echo ready >&2; sleep 6000; : {mark}"
    ours = (
        "import os\nfrom pathlib import Path\nfrom devfix.process import run\n"
        f"run(['sh', '-c', {program!r}], Path('/'), {{**os.environ, 'MARK': '{mark}'}}, {HANGS}, through=True)\n"
    )
    devfix = subprocess.Popen([sys.executable, "-c", ours], stderr=subprocess.PIPE, text=True)
    assert devfix.stderr is not None and devfix.stderr.readline() == "ready\n"
    assert len(living(mark)) >= 2
    devfix.send_signal(number)
    devfix.communicate(timeout=HANGS)
    until(lambda: not living(mark))


def test_no_descriptor_is_left_open() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    sh("true")
    before = count()
    for script in ("true", "yes", "exec no-such-command"):
        sh(script, timeout=0.3)
    run(["no-such-command"], Path("/"), {}, HANGS)
    run(["true"], Path("/no/such/folder"), {}, HANGS)
    assert count() == before


SECRETS = """
HF_TOKEN GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN OPENAI_API_KEY WANDB_API_KEY PGPASSWORD
MY_PASSWORD DB_PASS GOOGLE_APPLICATION_CREDENTIALS ACTIONS_RUNTIME_URL ACTIONS_ID_TOKEN_REQUEST_URL GITHUB_ENV APIKEY
GITHUB_OUTPUT CI_JOB_JWT SYSTEM_ACCESSTOKEN SSH_AUTH_SOCK npm_config__auth DEVFIX_PROBE GIT_DIR GIT_INDEX_FILE
KUBECONFIG AZURE_CLIENT_SECRET SLACK_WEBHOOK_SECRET MLFLOW_TRACKING_PASSWORD PYTHONPYCACHEPREFIX
"""
HARMLESS = """
PATH HOME PWD OLDPWD LANG TOKENIZERS_PARALLELISM MONKEY PYTHONPATH CUDA_VISIBLE_DEVICES HF_HOME OMP_NUM_THREADS AUTHOR
KEYBOARD XDG_CACHE_HOME GITHUB_ACTIONS GITHUB_WORKSPACE PASSENGERS MAX_TOKENS CI GIT_AUTHOR_NAME
"""


def test_secrets_stay_here() -> None:
    names = [*SECRETS.split(), *HARMLESS.split()]
    kept = child_environment(dict.fromkeys(names, "1"))
    assert kept.keys() & set(names) == set(HARMLESS.split())
    address = {"PIP_PROXY": "http://user:word@host/simple", "HTTP_PROXY": "http://host:3128"}
    assert child_environment(address).keys() & address.keys() == {"HTTP_PROXY"}


def test_a_cancelled_program_ends_with_all_that_it_started() -> None:
    mark, cancelled = uuid.uuid4().hex, threading.Event()
    script = f"sleep {HANGS} & echo begun; wait # {mark}"

    def hear(stream: int, data: bytes) -> None:
        cancelled.set()

    command = ["sh", "-c", script]
    done = run(command, Path("/"), {**child_environment(), "MARK": mark}, HANGS, hear=hear, cancelled=cancelled)
    assert (done.exit_code, done.stdout) == (None, "begun\n") and done.seconds < HANGS
    until(lambda: not living(mark))


def test_the_processor_time_of_all_its_processes_is_counted() -> None:
    works = "import time\nwhile time.process_time() < 0.3: pass"
    done = python(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {works!r}])\n{works}")
    assert done.exit_code == 0 and 0.6 <= done.processor < 30
    assert sh("sleep 0.5").processor < 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has the time for which a thread waited")
def test_the_time_in_which_it_waits_for_a_core_is_counted() -> None:
    works = "import time\nwhile time.process_time() < 1: pass"
    one_core = "import os, subprocess, sys\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    script = f"{one_core}other = subprocess.Popen([sys.executable, '-c', {works!r}])\n{works}\nother.wait()"
    command, limits = [sys.executable, "-c", script], ResourceLimits(processes=1000)
    done = run(command, Path("/"), child_environment(), HANGS, limits)
    assert done.exit_code == 0 and done.core_wait > 0.5
