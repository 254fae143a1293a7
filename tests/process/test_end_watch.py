"""Programs that do not end by themselves, ended once they have done what is waited for."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from waiting import HANGS

from devfix.model import Request, Until
from devfix.process import Completed, run
from devfix.process.end_watch import answer

LOOP = "import time\nprint('begun', flush=True)\ntime.sleep(1e6)\n"
SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(404, b"")
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        print(self.path, self.headers["Content-Type"], body.decode(), flush=True)
        self.answer(500 if b"bad" in body else 200, body)
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def ran(program: str, until: Until, folder: Path, *arguments: str, timeout: float = HANGS) -> Completed:
    return run([sys.executable, "-c", program, *arguments], folder, os.environ, timeout, until=until)


@pytest.fixture
def port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def test_it_is_interrupted_after_some_time(tmp_path: Path) -> None:
    done = ran(LOOP, Until(0.5), tmp_path)
    assert done.ended == "alive for 0.5 s" and not done.timed_out
    assert "KeyboardInterrupt" in done.stderr or done.stdout == ""  # it may not have begun yet


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_it_is_interrupted_when_it_has_printed_the_text(tmp_path: Path, stream: str) -> None:
    program = f"import sys\nfor part in ('epo', 'ch 3 o', 'f 9'): print(part, end='', file=sys.{stream}, flush=True)\n"
    done = ran(program + LOOP, Until(line="epoch 3 of"), tmp_path)
    assert done.ended == "alive, and printed 'epoch 3 of'" and "KeyboardInterrupt" in done.stderr


def test_a_program_that_ends_first_has_not_been_ended(tmp_path: Path) -> None:
    done = ran("print('epoch 1'); raise SystemExit(3)", Until(line="epoch 2"), tmp_path)
    assert (done.ended, done.exit_code) == ("", 3)


@pytest.mark.slow
def test_without_the_text_the_time_limit_ends_it(tmp_path: Path) -> None:
    done = ran(LOOP, Until(line="never"), tmp_path, timeout=1.0)
    assert done.ended == "" and done.timed_out


def test_a_program_that_ignores_the_interrupt_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devfix.process.running.AGAIN", 0.5)
    monkeypatch.setattr("devfix.process.running.GRACE", 0.5)
    ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = ran(ignoring + LOOP, Until(line="begun"), tmp_path)
    assert done.ended == "alive, and printed 'begun'" and "KeyboardInterrupt" not in done.stderr


def test_a_program_that_misses_the_first_interrupt_is_interrupted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devfix.process.running.AGAIN", 0.5)
    once = "import signal\nback = signal.getsignal(signal.SIGINT)\n"
    once += "signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, back))\n"
    done = ran(once + LOOP, Until(line="begun"), tmp_path)
    assert done.ended == "alive, and printed 'begun'" and "KeyboardInterrupt" in done.stderr


def test_a_server_answers_requests_and_is_ended(tmp_path: Path, port: str) -> None:
    requests = (Request("POST", "/predict?a=1", '{"x": 1}'), Request("POST", "/b", "plain"))
    done = ran(SERVER, Until(url=f"http://127.0.0.1:{port}/", requests=requests), tmp_path, port)
    assert done.ended == "alive, and answered 2 of 2 requests" and done.failed_requests == ()
    assert done.stdout.splitlines() == [
        '/predict?a=1 application/json {"x": 1}',
        "/b text/plain; charset=utf-8 plain",
    ]
    assert answer(f"http://127.0.0.1:{port}/", Request("GET", "/"), 5.0) is None


def test_a_request_that_fails_in_the_server_is_named(tmp_path: Path, port: str) -> None:
    requests = (Request("POST", "/predict", "bad"),)
    done = ran(SERVER, Until(url=f"http://127.0.0.1:{port}/", requests=requests), tmp_path, port)
    assert done.ended == "alive, and answered 0 of 1 requests" and done.failed_requests == ("POST /predict: 500",)


def test_an_answer_of_any_kind_shows_that_the_server_is_there(tmp_path: Path, port: str) -> None:
    done = ran(SERVER, Until(url=f"http://127.0.0.1:{port}/health"), tmp_path, port)  # it says 404
    assert done.ended == f"alive, and answered at http://127.0.0.1:{port}/health"


def test_a_server_that_ends_at_once_is_not_waited_for(tmp_path: Path, port: str) -> None:
    done = ran("raise SystemExit(2)", Until(url=f"http://127.0.0.1:{port}/"), tmp_path)
    assert (done.ended, done.exit_code) == ("", 2)


def test_it_is_interrupted_when_the_probe_has_counted_enough(tmp_path: Path) -> None:
    mark = tmp_path / "reached"
    program = f"open({str(mark)!r}, 'w').close()\n{LOOP}"
    done = run([sys.executable, "-c", program], tmp_path, os.environ, HANGS, until=Until(steps=4), mark=mark)
    assert done.ended == "alive, and ran the failing line 4 times" and not done.timed_out


def test_without_enough_steps_it_runs_to_its_end(tmp_path: Path) -> None:
    until, mark = Until(steps=4), tmp_path / "reached"
    done = run([sys.executable, "-c", "print(1)"], tmp_path, os.environ, HANGS, until=until, mark=mark)
    assert (done.ended, done.exit_code, done.stdout) == ("", 0, "1\n")
