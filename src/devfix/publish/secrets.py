"""Scan the texts to publish for credentials."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping

from devfix.errors import UserError
from devfix.process import child_environment

# The detectors of detect-secrets for known formats. The others use randomness or the name of a variable, and report
# hashes, file names and `token = load(...)`.
_DETECTORS = (
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "JwtTokenDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)
# Services that training scripts log in to and that detect-secrets does not support, and GitHub's long tokens.
_OWN = {
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "a Weights & Biases key": re.compile(r"(?i)wandb[\w.\"' \[\](]{0,40}(?:=|:|,|\()\s*[rbf]?[\"'][0-9a-f]{40}[\"']"),
    "a GitHub token": re.compile(r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    "a Google API key": re.compile(r"\bAIza[0-9A-Za-z_-]{35}"),
    "a Google access token": re.compile(r"\bya29\.[0-9A-Za-z_-]{20,}"),
    "an Anthropic key": re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "a Databricks token": re.compile(r"\bdapi[0-9a-f]{32}\b"),
    "a Replicate token": re.compile(r"\br8_[A-Za-z0-9]{30,}"),
}
# A password for a service on the same machine, as in tests, opens nothing elsewhere.
_LOCAL = re.compile(r"://[^\s:@/]*:[^\s@/]*@(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/\s\"'?]|$)")
# Comments in a line must not switch the search off: the program under repair may have written them.
_PRAGMAS = "detect_secrets.filters.allowlist.is_line_allowlisted"
_SHORTEST = 8  # shortest value from the environment that is searched for: shorter ones are words
_NAMED = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|JWT|PAT$|COOKIE")


def check(
    texts: Mapping[str, str], accepted: Collection[str] = (), environment: Mapping[str, str] | None = None
) -> None:
    """Raise UserError if a text (by its name) contains a credential; the message does not show it.

    Lines whose `digest` is accepted are left out.
    """
    from detect_secrets.core.scan import scan_line  # importing it takes 0.1 s
    from detect_secrets.settings import transient_settings

    known = _hidden_variables(environment)
    with transient_settings({"plugins_used": [{"name": name} for name in _DETECTORS]}) as settings:
        settings.disable_filters(_PRAGMAS)
        for name, text in texts.items():
            for number, line in enumerate(text.split("\n"), 1):
                found = [f"the value of {variable}" for variable, value in known.items() if value in line]
                found += [kind for kind, pattern in _OWN.items() if pattern.search(line)]
                found += [f"a credential ({secret.type})" for secret in scan_line(_LOCAL.sub("://", line))]
                if found and digest(line) not in accepted:
                    raise UserError(
                        f"nothing is published: line {number} of {name} contains what looks like {found[0]}; remove it "
                        "from the repository and revoke it, since others may have seen it (if it is none: "
                        f"--accept-line {digest(line)})"
                    )


def digest(line: str) -> str:
    """Return sixteen characters for a line, whatever its indentation and its sign in a diff."""
    return hashlib.sha256(line.lstrip("+- \t").rstrip().encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _hidden_variables(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Return the variables of the environment that are hidden from programs: their values must not be published."""
    variables = dict(os.environ if environment is None else environment)
    passed = child_environment(variables)
    hidden = {name: value for name, value in variables.items() if name not in passed and _NAMED.search(name.upper())}
    return {name: value for name, value in hidden.items() if len(value) >= _SHORTEST and not value.startswith("/")}
