"""Look through what is about to leave for credentials; what is found stops it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from devfix.errors import UserError
from devfix.process import child_environment

# Those detectors of detect-secrets that know a form. The others judge by randomness or by the name of a variable, and
# take hashes, file names and `token = load(...)` for secrets.
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
# The two services that training scripts log in to, which detect-secrets does not know; and GitHub's long tokens.
_OWN = {
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "a Weights & Biases key": re.compile(r"(?i)wandb[\w.\"' \[\](]{0,40}(?:=|:|,|\()\s*[rbf]?[\"'][0-9a-f]{40}[\"']"),
    "a GitHub token": re.compile(r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    "a key of Google's": re.compile(r"\bAIza[0-9A-Za-z_-]{35}"),
}
_SHORTEST = 8  # characters of a value from the environment that is looked for: shorter ones are words
_NAMED = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|JWT|PAT$|COOKIE")


def check(texts: Mapping[str, str], environment: Mapping[str, str] | None = None) -> None:
    """Raise UserError where a text (names map to texts) holds a credential; the credential itself is not shown."""
    from detect_secrets.core.scan import scan_line  # a tenth of a second that only publishing pays
    from detect_secrets.settings import transient_settings

    known = _known(environment)
    with transient_settings({"plugins_used": [{"name": name} for name in _DETECTORS]}):
        for name, text in texts.items():
            for number, line in enumerate(text.split("\n"), 1):
                found = [kind for kind, pattern in _OWN.items() if pattern.search(line)]
                found += [f"the value of {variable}" for variable, value in known.items() if value in line]
                found += [f"a credential ({secret.type})" for secret in scan_line(line)]
                if found:
                    raise UserError(
                        f"nothing is published: line {number} of {name} holds what looks like {found[0]}; take it out "
                        "of the repository and make it void, for others may have seen it"
                    )


def _known(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Return the variables of the environment that are kept from programs, whose very values must not leave."""
    given = dict(os.environ if environment is None else environment)
    passed = child_environment(given)
    hidden = {name: value for name, value in given.items() if name not in passed and _NAMED.search(name.upper())}
    return {name: value for name, value in hidden.items() if len(value) >= _SHORTEST and not value.startswith("/")}
