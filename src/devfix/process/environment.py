"""The environment of a program under repair: the user's own, without secrets and devfix's own variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# Whole words between underscores, so that TOKENIZERS_PARALLELISM and MONKEY are kept.
_SECRET = re.compile(
    r"(?:^|_)(?:TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASS|PASSPHRASE|PWD|CREDENTIALS?|CREDS|JWT|PAT|COOKIE|AUTH|"
    r"(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|ACCOUNT|DEPLOY|SERVICE)_?KEYS?)(?:_|$)"
)
_SECRET_RUN_TOGETHER = re.compile(r"(?:TOKEN|SECRET|PASSWORD|APIKEY|_KEY)$")  # PGPASSWORD, KAGGLE_KEY
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:[^/@\s]+@")

# Files and sockets of a build: a program that can write to them could act in later steps.
_CONTINUOUS_INTEGRATION = re.compile(
    r"ACTIONS_.*|GITHUB_(?:ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|RUNNER_TRACKING_ID|SYSTEM_ACCESSTOKEN|"
    r"BUILDKITE_AGENT_.*|CI_JOB_.*|CI_REGISTRY_.*|VAULT_.*|KUBECONFIG|DOCKER_(?:HOST|CONFIG)|"
    r"SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS)|GPG_AGENT_INFO|GIT_ASKPASS|NETRC|KRB5CCNAME|AWS_CONTAINER_.*|CI_REPOSITORY_URL"
)
# Set by git when it runs devfix in a hook: with them, git would use the user's own repository.
_REPOSITORY_OF_A_HOOK = re.compile(
    r"GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|"
    r"QUARANTINE_PATH|CONFIG_PARAMETERS|CONFIG_COUNT|CONFIG_KEY_\d+|CONFIG_VALUE_\d+)"
)
# Git could ask a credential helper, or send a token that an earlier build step configured.
_NO_CREDENTIALS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
_KEPT = frozenset({"PWD", "OLDPWD"})
# Modules cached by path could be loaded for another candidate.
_OURS = re.compile(r"DEVFIX_.*|PYTHONPYCACHEPREFIX")


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of `environment` (default: this process's) that a program under repair may see."""
    given = os.environ if environment is None else environment
    passed = {name: value for name, value in given.items() if _may_pass(name, value)}
    # Two programs on two cores spin at each other's barriers: 4.5 s of CPU for a pair that needs 3.3 s.
    passed.setdefault("OMP_WAIT_POLICY", "passive")
    return {**passed, **_NO_CREDENTIALS}


def _may_pass(name: str, value: str) -> bool:
    word = name.upper()
    if word in _KEPT:
        return True
    if _OURS.fullmatch(word) or _SECRET.search(word) or _SECRET_RUN_TOGETHER.search(word):
        return False
    if _CONTINUOUS_INTEGRATION.fullmatch(word) or _REPOSITORY_OF_A_HOOK.fullmatch(word):
        return False
    return not _PASSWORD_IN_ADDRESS.search(value)
