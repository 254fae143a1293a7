"""`devfix playground`: who may ask the server, what it answers, and the page in headless Chromium."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import MISSING, browser

from devfix.errors import UserError
from devfix.registry import collect
from devfix.rule_testing.playground.answer import Language
from devfix.rule_testing.playground.server import LARGEST, Playground, playground
from devfix.rule_testing.playground.start import EXAMPLE_PROGRAM, EXAMPLE_RULE, example, start_of

SENT = {"files": {"main.py": EXAMPLE_PROGRAM}, "rule": EXAMPLE_RULE, "language": "toml"}
PYTHON_RULE = '''"""A gate."""

from devfix.sdk import OperandRule


class Gate(OperandRule):
    message = "{name} was left."

    def propose(self, ctx):
        print("looked at", ctx.name)
        yield from next(ctx.sites("use")).move_argument()
'''


@pytest.fixture(scope="module")
def server() -> Iterator[Playground]:
    with playground(example(), Path(sys.executable)) as running:
        yield running


def asked(server: Playground, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str, str]:
    """Return the status, the body and the policy of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    try:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers.get("Content-Security-Policy", "")
    finally:
        connection.close()


def ran(server: Playground, **changed: object) -> dict[str, object]:
    status, body, _ = asked(server, "POST", f"/{server.token}/run", json.dumps({**SENT, **changed}))
    assert status == 200
    found: dict[str, object] = json.loads(body)
    return found


def test_the_page_is_for_who_has_its_address(server: Playground) -> None:
    assert server.server_address[0] == "127.0.0.1"
    status, body, policy = asked(server, "GET", f"/{server.token}/")
    assert status == 200 and "devfix playground" in body
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "http://" not in body and "https://" not in body  # nothing comes from elsewhere


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", {}),
        ("GET", "/wrong/", {}),
        ("GET", "/{token}/../secret", {}),
        ("GET", "/{token}/", {"Host": "evil.example"}),
        ("GET", "/{token}/", {"Origin": "https://evil.example"}),
        ("POST", "/wrong/run", {}),
        ("POST", "/{token}/run", {"Origin": "null"}),
        ("POST", "/{token}/", {}),
    ],
)
def test_others_are_refused(server: Playground, method: str, path: str, headers: dict[str, str]) -> None:
    sent = json.dumps(SENT) if method == "POST" else ""
    status, body, _ = asked(server, method, path.format(token=server.token), sent, **headers)
    assert (status, body) == (404, "Not Found\n")


def test_what_is_no_submission_is_refused(server: Playground) -> None:
    run = f"/{server.token}/run"
    assert asked(server, "POST", run, "{")[0] == 400
    assert asked(server, "POST", run, json.dumps({**SENT, "language": "perl"}))[0] == 400
    assert asked(server, "POST", run, json.dumps({**SENT, "files": {"../x.py": ""}}))[0] == 400
    assert asked(server, "POST", run, "", **{"Content-Length": str(LARGEST + 1)})[0] == 413


def test_a_rule_of_the_catalog_is_where_the_page_begins() -> None:
    start = start_of(collect().find("boundary/numpy-on-device"))
    assert start.language is Language.TOML and "main.py" in start.files and "numpy-on-device" in start.rule
    assert start_of(collect().find("placement/input-not-moved")).language is Language.PYTHON
    with pytest.raises(UserError, match="has no failing case for one GPU"):
        start_of(collect().find("multi-gpu/sent-elsewhere"))


@pytest.mark.slow
def test_the_answer_has_the_failure_the_changes_and_whether_they_hold(server: Playground) -> None:
    found = ran(server, verify=True)
    assert str(found["failure"]).startswith("device-mismatch at main.py:9")
    assert found["finding"] == "(direct) A gate's values were never moved to cuda:0."
    first = found["changes"][0]  # type: ignore[index]
    assert (first["safety"], "+        return x * self.values.to(x.device)" in first["diff"]) == ("safe", True)
    assert found["verified"] == [] and "site 'use'" in str(found["context"])
    # Another text of the same length in the same second, another language, and what is wrong.
    assert ran(server, rule=EXAMPLE_RULE.replace('"values"', '"valuer"'))["why_nothing"] == "`diagnose` blames nothing"
    python = ran(server, rule=PYTHON_RULE, language="py")
    assert python["finding"] == "(direct) `self.values` was left." and "looked at `self.values`" in str(
        python["output"]
    )
    broken = ran(server, rule=EXAMPLE_RULE.replace("at =", "att ="))
    assert broken["rule_error"] == "rule.toml:5: unknown key 'att'; did you mean 'at'?"
    assert (
        ran(server, files={"main.py": "print(1)"})["failure"] == "does not fail on a device: clean in the world cuda x1"
    )


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_the_page_follows_what_is_typed(server: Playground) -> None:
    until = "const look = () => %s ? done(document.getElementById('result').innerText) : setTimeout(look, 50); look();"
    ready = "document.getElementById('state').innerText === 'up to date'"
    type_in = """
        const area = document.getElementById('rule');
        area.value = area.value.replace(arguments[0], arguments[1]);
        area.dispatchEvent(new Event('input'));
    """
    with browser() as chromium:
        chromium.limit_scripts(300)
        chromium.visit(server.url)
        shown = chromium.wait_for(until % ready)
        assert "device-mismatch at main.py:9" in shown and "The first change holds in all worlds" in shown
        assert "1. Move `self.values` to `x.device`" in shown
        chromium.run(type_in.replace("arguments[0]", "'\"values\"'").replace("arguments[1]", "'\"gone\"'"))
        assert "`diagnose` blames nothing" in chromium.wait_for(until % ready)
        chromium.run(type_in.replace("arguments[0]", "'at ='").replace("arguments[1]", "'att ='"))
        assert "rule.toml:5: unknown key 'att'; did you mean 'at'?" in chromium.wait_for(until % ready)
        assert chromium.messages() == []  # no script failed, and the policy refused neither style nor script
        page, window = chromium.run("const e = document.documentElement; return [e.scrollWidth, e.clientWidth]")
        assert page <= window


@pytest.mark.slow
def test_the_command_prints_the_address_and_ends_with_a_signal() -> None:
    command = [sys.executable, "-m", "devfix", "playground"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert running.stdout is not None
    with running.stdout as lines:
        assert lines.readline().startswith("http://127.0.0.1:")
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 128 + signal.SIGTERM
