"""Programs that catch a device failure and then fail for another reason, because of it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from verdict_programs import project

import devfix
from devfix.model import Outcome

pytestmark = pytest.mark.slow

BEGIN = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weight = torch.ones(3, device=device)


def total(bias):
    return (weight + torch.arange(3.0) + bias).sum().item()

"""
FIXED = "+    return (weight + torch.arange(3.0, device=weight.device) + bias).sum().item()"
NOTHING = """
def attempt():
    try:
        return total(1.0)
    except RuntimeError:
        return None


print(attempt() + 1)
"""
SERVER = """
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        answer = str(total(1.0)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)


server = HTTPServer(("127.0.0.1", PORT), Handler)
Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:PORT").read().decode())
server.shutdown()
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_what_makes_it_fail_is_repaired(tmp_path: Path) -> None:
    report = devfix.repair(project(tmp_path, BEGIN + NOTHING), run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert FIXED in report.diff
    assert any("the caught failure is repaired" in note for note in report.notes)


def test_a_server_with_a_port_of_its_own_is_repaired_in_one_run_at_a_time(tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + SERVER.replace("PORT", str(free_port())))
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.repairs, report.notes)
    assert FIXED in report.diff


def test_one_that_fails_so_without_a_gpu_too_is_not_explained_by_it(tmp_path: Path) -> None:
    root = project(tmp_path, BEGIN + NOTHING.replace("attempt() + 1", "attempt() is None, [][0]"))
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "unrepaired" and not report.repairs and report.last_run is not None
    assert report.last_run.outcome is Outcome.OTHER
