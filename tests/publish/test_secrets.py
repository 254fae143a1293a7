"""Nothing with a credential in it leaves, and no token is where a program or a reader could find it."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from git_repositories import git
from github_server import TOKEN, github
from programs import FIRST, TRAIN, History

from devfix.cli import status
from devfix.errors import UserError
from devfix.publish.secrets import check
from devfix.workspace.git.network import settings

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "GitHub": "ghp_" + "a1B2" * 9,
    "GitHub, long": "github_pat_" + "a1B2c3D4" * 6,
    "Hugging Face": "hf_" + "abcdEFGH" * 4 + "ij",
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "Slack": "xoxb-" + "123456789012-1234567890123-" + "aB3" * 8,
    "OpenAI": "sk-" + "aB3d" * 5 + "T3BlbkFJ" + "aB3d" * 5,
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "an address": "postgres://ada:" + "hunter2hunter2" + "@db.example.org/x",
    "Anthropic": "sk-ant-" + "api03-" + "aB3d" * 8,
    "Databricks": "dapi" + "0123456789abcdef" * 2,
    "Replicate": "r8_" + "aB3d" * 9 + "a",
    "Google, access": "ya29." + "a0AfH6SMB" * 4,
    "Weights & Biases": "wandb.login(key='" + "0123456789abcdef" * 2 + "01234567')",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_credentials_are_found_and_not_shown(kind: str) -> None:
    with pytest.raises(UserError, match="nothing is published: line 2 of the diff") as caught:
        check({"the diff": f'x = 1\n+model = load("{SECRETS[kind]}")  # pragma: allowlist secret\n'}, environment={})
    assert SECRETS[kind] not in str(caught.value)


def test_a_line_that_a_person_has_looked_at_is_accepted() -> None:
    line = f'    key = "{SECRETS["AWS"]}"'
    with pytest.raises(UserError, match="--accept-line") as caught:
        check({"the diff": line}, environment={})
    (digest,) = re.findall(r"--accept-line (\w+)", str(caught.value))
    check({"the diff": f"+{line}", "the text": line}, {digest}, {})
    with pytest.raises(UserError):
        check({"the diff": f"{line}  # another"}, {digest}, {})


@pytest.mark.parametrize(
    "line",
    [
        "x = x.to(device)",
        "token = tokenizer(text)",
        'model = load("EleutherAI/gpt-neo-1.3B", revision="0123456789abcdef0123456789abcdef01234567")',
        "self.secret = secret.to(device)",
        'password = os.environ["PASSWORD"]',
        'torch.distributed.init_process_group(init_method="tcp://127.0.0.1:29500")',
        'engine = connect("postgres://postgres:postgres@localhost:5432/test")',
    ],
)
def test_code_is_not_taken_for_credentials(line: str) -> None:
    check({"the diff": line}, environment={})


def test_the_values_of_secret_variables_do_not_leave() -> None:
    environment = {
        "DEPLOY_TOKEN": "s3cr3t-value",
        "PATH": "/usr/bin:/bin",
        "CI_JOB_NAME": "publish-this",
        "PWD": "/srv",
    }
    with pytest.raises(UserError, match="the value of DEPLOY_TOKEN"):
        check({"the text": "it failed with s3cr3t-value"}, environment=environment)
    check({"the text": "publish-this ran in /srv with /usr/bin:/bin"}, environment=environment)


@pytest.mark.parametrize("where", ["diff", "message"])
def test_a_report_with_a_credential_pushes_nothing(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = SECRETS["Hugging Face"]
    history = History.start(tmp_path / "work", {"train.py": TRAIN.replace(b"net(x)", f'net(x, "{secret}")'.encode())})
    bug = (*FIRST[:4], b"net(x,", b'net(x.to("cuda"),') if where == "diff" else (*FIRST[:4], b"\nmain()", b"\nmain() ")
    data = history.artifact(tmp_path / "report.json", bug).read_text()
    (tmp_path / "report.json").write_text(
        data.replace("Expected all tensors", f"login {secret}") if where == "message" else data
    )
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with github(tmp_path / "hub", history.folder) as hub:
        assert status(["publish", str(tmp_path / "report.json"), "--remote", hub.url]) == 2
        assert set(hub.branches()) == {"main"} and hub.writes() == []
    said = capsys.readouterr().err
    assert "nothing is published" in said and secret not in said


def test_the_token_goes_to_one_address_and_into_no_argument(tmp_path: Path) -> None:
    given = settings("https://github.com/ada/model", TOKEN)
    words = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert [name for name, text in given.items() if words in text] == ["GIT_CONFIG_VALUE_4"]
    assert given["GIT_CONFIG_KEY_4"] == "http.https://github.com/ada/model.extraHeader"
    assert given["GIT_ALLOW_PROTOCOL"] == "https"


@pytest.mark.parametrize("address", ["http://git.example.org/ada/model", "https://ada:pw@github.com/ada/model"])
def test_addresses_that_would_give_a_token_away(address: str) -> None:
    with pytest.raises(UserError):
        settings(address, TOKEN)


@pytest.mark.parametrize("address", ["ext::sh -c touch% x", "ftp://example.org/a/b", "gopher://x/a/b", "-u/a:b"])
def test_addresses_that_run_commands_are_refused(
    history: History, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    assert status(["publish", str(history.artifact(tmp_path / "report.json", FIRST)), f"--remote={address}"]) == 2


@pytest.mark.slow
def test_no_process_shows_the_token_while_it_publishes(history: History, tmp_path: Path) -> None:
    """Look at every argument of every process below ours, all the time that a publishing takes."""
    report = history.artifact(tmp_path / "report.json", FIRST)
    words = base64.b64encode(f"x-access-token:{TOKEN}".encode())
    seen: set[bytes] = set()
    with github(tmp_path / "hub", history.folder) as hub:
        command = [sys.executable, "-m", "devfix", "publish", str(report), "--remote", hub.url]
        environment = {**os.environ, "GITHUB_TOKEN": TOKEN}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            watcher = threading.Thread(target=_watch, args=(process, seen))
            watcher.start()
            assert process.stdout is not None
            printed = process.stdout.read()
            process.wait()
            watcher.join()
        assert process.returncode == 0, printed
    assert any(b"push" in line for line in seen)
    assert not any(TOKEN.encode() in line or words in line for line in (*seen, printed))


def _watch(process: subprocess.Popen[bytes], seen: set[bytes]) -> None:
    """Add the arguments of a process and of those below it; other tests beside it may hand the token to git."""
    below = {process.pid}
    while process.poll() is None:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
                if parent in below or int(folder.name) in below:
                    below.add(int(folder.name))
                    seen.add((folder / "cmdline").read_bytes())
            except OSError:
                continue
        time.sleep(0.005)


def test_hooks_and_configuration_of_the_repository_at_hand_do_not_run(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    hook = history.folder / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nenv > {trap}\n")
    hook.chmod(0o755)
    for name in ("core.sshCommand", "core.fsmonitor", "credential.helper", "core.askPass"):
        git(
            history.folder, "config", name, f"!sh -c 'env > {trap}'" if name == "credential.helper" else f"env > {trap}"
        )
    report = history.artifact(tmp_path / "report.json", FIRST)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.chdir(history.folder)
    with github(tmp_path / "hub", history.folder) as hub:
        git(history.folder, "remote", "add", "origin", hub.url)
        assert status(["publish", str(report)]) == 0
        assert len(hub.pulls) == 1
    assert not trap.exists()
