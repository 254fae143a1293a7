"""What a program under repair can find of tokens: nothing in its environment, nothing through git in its worktree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository

from devfix.process import child_environment
from devfix.workspace import Repository

# The names under which the services that run builds hand out tokens, from their documentation.
GIVEN = """
GITHUB_TOKEN GH_TOKEN ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL
ACTIONS_RUNTIME_URL ACTIONS_CACHE_URL ACTIONS_RESULTS_URL GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE
GITHUB_STEP_SUMMARY
CI_JOB_TOKEN CI_REGISTRY_PASSWORD CI_DEPLOY_PASSWORD CI_REPOSITORY_URL SYSTEM_ACCESSTOKEN BUILDKITE_AGENT_ACCESS_TOKEN
CIRCLE_TOKEN CIRCLE_OIDC_TOKEN TRAVIS_TOKEN DRONE_NETRC_PASSWORD BITBUCKET_STEP_OIDC_TOKEN JENKINS_API_TOKEN
AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI
GOOGLE_APPLICATION_CREDENTIALS GOOGLE_GHA_CREDS_PATH CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE AZURE_CLIENT_SECRET
NPM_TOKEN NODE_AUTH_TOKEN TWINE_PASSWORD UV_PUBLISH_TOKEN PYPI_API_TOKEN CARGO_REGISTRY_TOKEN DOCKER_PASSWORD
HF_TOKEN HUGGING_FACE_HUB_TOKEN WANDB_API_KEY COMET_API_KEY NEPTUNE_API_TOKEN MLFLOW_TRACKING_PASSWORD OPENAI_API_KEY
ANTHROPIC_API_KEY KAGGLE_KEY SLACK_BOT_TOKEN SENTRY_AUTH_TOKEN CODECOV_TOKEN SSH_AUTH_SOCK GIT_ASKPASS SSH_ASKPASS
VAULT_TOKEN KUBECONFIG PGPASSWORD MYSQL_PWD npm_config__authToken GPG_PASSPHRASE KRB5CCNAME
"""
NEEDED = """
PATH HOME PYTHONPATH LD_LIBRARY_PATH TOKENIZERS_PARALLELISM MAX_TOKENS CUDA_VISIBLE_DEVICES PWD GITHUB_WORKSPACE CI
"""
LOOK = """
import os, subprocess
print(sorted(name for name, value in os.environ.items() if "s3cr3t" in value))
for command in ("config --list", "remote --verbose", "credential fill"):
    asked = "protocol=https\\nhost=github.com\\n\\n"
    done = subprocess.run(["git", *command.split()], input=asked, text=True, capture_output=True)
    print("s3cr3t" in done.stdout + done.stderr)
for folder, _, files in os.walk(".git", followlinks=True):
    for file in files:
        print(*["found in " + file] if b"s3cr3t" in open(os.path.join(folder, file), "rb").read() else [], end="")
"""


@pytest.mark.parametrize("name", GIVEN.split())
def test_no_token_is_passed_on(name: str) -> None:
    assert name not in child_environment({name: "s3cr3t"})


@pytest.mark.parametrize("name", NEEDED.split())
def test_what_programs_need_is_passed_on(name: str) -> None:
    assert child_environment({name: "1"})[name] == "1"


@pytest.mark.parametrize("value", ["https://ada:s3cr3t@pypi.example.org/simple", "postgres://ada:s3cr3t@db/x"])
def test_no_address_with_a_password_is_passed_on(value: str) -> None:
    assert "URL" not in child_environment({"URL": value})


def test_git_gives_no_credential_away_in_a_worktree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a checkout leaves them in the repository, as a step of a build leaves them for the user, and by a helper."""
    folder = make_repository(tmp_path / "model", {"look.py": LOOK})
    git(folder, "remote", "add", "origin", "https://ada:s3cr3t@github.com/ada/model")
    git(folder, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic s3cr3t")
    git(folder, "config", "credential.helper", "!f() { echo username=ada; echo password=s3cr3t; }; f")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text((folder / ".git" / "config").read_text())
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GITHUB_TOKEN", "s3cr3t")
    told = subprocess.run([sys.executable, "look.py"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "GITHUB_TOKEN" in told and told.count("True") == 3 and "found in config" in told  # the look does find them
    with Repository.open(folder).worktrees(1) as worktrees:
        path = worktrees.take().path
        done = subprocess.run(
            [sys.executable, "look.py"], cwd=path, env=child_environment(), capture_output=True, text=True
        )
    assert done.stdout.split() == ["[]", "False", "False", "False"], done.stderr
