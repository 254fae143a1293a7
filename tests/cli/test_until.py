"""`devfix repair` of programs that do not end by themselves."""

from __future__ import annotations

import http.server
import shlex
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_programs import repair
from git_repositories import fingerprint, git, make_repository
from sample_report import report

from devfix.cli import status
from devfix.cli.options.until import until_from
from devfix.model import Request, Until
from devfix.report.record import record
from devfix.report.render.machine_readable.json import read
from devfix.report.render.pull_request.summary import reproduce

NAMES = ("for", "until-line", "until", "request", "steps-after")

TRAINING = """
import time, torch
device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(2, device=device)
for step in range(10**9):
    batch = torch.ones(2)
    loss = (weight * batch).sum()
    print("step", step, flush=True)
    time.sleep(0.05)
"""
SERVER = """
import http.server, json, sys, torch
device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(2, device=device)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def do_POST(self):
        values = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            batch = torch.tensor(values)
            total = (weight * batch).sum().item()
        except Exception:
            self.send_response(500)
        else:
            self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def test_the_options_say_what_is_waited_for() -> None:
    assert until_from(None, None, None, None, 600) is None
    assert until_from("2m", None, None, None, 600) == Until(120.0)
    assert until_from("5", "epoch 1", None, None, 600) == Until(5.0, "epoch 1")
    assert until_from(None, None, None, None, 600, 3) == Until(steps=3)
    url = "http://127.0.0.1:8000/health"
    requests = ['POST /predict {"x": [1, 2]}', "GET /"]
    expected = (Request("POST", "/predict", '{"x": [1, 2]}'), Request("GET", "/"))
    assert until_from(None, None, url, requests, 600) == Until(0.0, "", url, expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--for", "never"], "--for never: give a time above 0"),
        (["--for", "10m"], "--for 10m: is not below the time limit for a run, 600 s; raise it: --timeout"),
        (["--steps-after", "0"], "--steps-after 0: give at least 1"),
        (["--until-line", " "], "--until-line is empty"),
        (["--until", "127.0.0.1:80"], "--until 127.0.0.1:80: give an address like http://127.0.0.1:8000/"),
        (["--until", "https://a/"], "--until https://a/: give an address like"),
        (["--until", "http://a:99999/"], "--until http://a:99999/: give an address like"),
        (["--request", "GET /"], "--request GET /: needs --until URL"),
        (["--until", "http://127.0.0.1:9/", "--request", "predict"], "--request predict: give a method, a path"),
        (["--until", "http://127.0.0.1:9/", "--until-line", "x"], "--until-line and --until: give one of them"),
    ],
)
def test_wrong_values_are_told_in_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["repair", str(tmp_path), *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--until-line", "step 3"), "alive, and printed 'step 3'"),
        (("--steps-after", "4"), "alive, and ran the failing line 4 times"),
    ],
)
def test_training_that_takes_hours_is_repaired(arguments: tuple[str, str], words: str, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": TRAINING})
    data = read(repair(root, *arguments, "--format", "json").stdout)
    assert data.outcome == "repaired" and data.last_run is not None
    assert data.last_run.ended == words
    assert set(data.fixes[0].verdict.worlds.values()) == {data.last_run.ended}
    assert any("was not compared" in note for note in data.notes)
    assert "batch = torch.ones(2, device=device)" in git(root, "show", f"{data.branch}:main.py")


@pytest.mark.slow
def test_a_server_that_answers_500_is_repaired(tmp_path: Path, port: str) -> None:
    root = make_repository(tmp_path / "program", {"main.py": SERVER})
    before = fingerprint(root)
    asked = ["--until", f"http://127.0.0.1:{port}/", "--request", "POST / [1.0, 2.0]", "--dry-run"]
    done = repair(root, *asked, run=f"python main.py {port}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 fix; alive, and answered 1 of 1 requests." in done.stdout
    assert "batch = torch.tensor(values, device=" in done.stdout and fingerprint(root) == before


@pytest.mark.slow
def test_without_a_failure_the_report_says_what_it_did(tmp_path: Path) -> None:
    program = "import torch, time\nprint('begun', flush=True)\ntime.sleep(1e6)\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    done = repair(root, "--until-line", "begun")
    assert done.returncode == 0
    assert done.stdout.startswith("No device failure: alive, and printed 'begun'; then devfix ended the program.")


@pytest.mark.slow
def test_a_server_that_runs_already_is_told_before_anything_is_run(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": SERVER})
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        done = repair(root, "--until", url)
        server.shutdown()
    assert done.returncode == 2 and f"--until {url}: something answers there already" in done.stderr


@pytest.mark.parametrize(
    "given",
    [
        ("90s", None, None, None),
        ("1.5s", "step 1", None, None),
        (None, None, "http://127.0.0.1:8/", ["POST /a [1]", "GET /b"]),
        ("90s", None, None, None, 7),
    ],
)
def test_the_command_that_repeats_a_repair_waits_for_the_same(given: tuple[Any, ...]) -> None:
    until = until_from(*given[:4], 600, *given[4:])
    assert until is not None
    named = {
        name: [each.partition("=")[2] for each in until.options if each.startswith(f"--{name}=")] for name in NAMES
    }
    first = {name: found[0] if found else None for name, found in named.items()}
    steps = int(first["steps-after"]) if first["steps-after"] else None
    assert until_from(first["for"], first["until-line"], first["until"], named["request"], 600, steps) == until
    data = record(replace(report(), until=until))
    assert all(shlex.quote(option) in reproduce(data) for option in until.options)
