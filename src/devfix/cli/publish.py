"""`devfix publish`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.errors import UserError
from devfix.report.render.plain import one_line

if TYPE_CHECKING:
    from devfix.publish.publisher import PublishAction


class StepFormat(str, Enum):
    """Format in which the steps of publishing are printed."""

    text = "text"
    json = "json"
    outputs = "outputs"


EPILOG = """Examples:

\b
  devfix repair . --output found && devfix publish found --dry-run
  devfix publish report.json --remote https://github.com/ada/model --base main --draft

The token is read from GITHUB_TOKEN (or GH_TOKEN). The command is idempotent.

Exit codes: 0 success; 2 invalid report, or rejected by GitHub; 3 internal error."""


def publish(
    report: Annotated[
        Path,
        typer.Argument(metavar="REPORT", help="A report in JSON, or a folder written by `devfix repair --output`."),
    ],
    remote: Annotated[
        str,
        typer.Option(metavar="REMOTE", help="Where to push: a GitHub URL, or a remote of the current repository."),
    ] = "origin",
    base: Annotated[
        str | None,
        typer.Option(metavar="BRANCH", help="Base branch of the pull request [default: the remote's default branch]"),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Branch to push [default: devfix/RULE-FAILURE]")
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Open pull requests as drafts.")] = False,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Label for pull requests; repeatable.")
    ] = None,
    per_fix: Annotated[bool, typer.Option("--per-fix", help="Open one pull request for each independent fix.")] = False,
    pull_request: Annotated[
        str | None,
        typer.Option(metavar="N|event", help="Do not push; comment on this pull request instead (for forks)."),
    ] = None,
    commit: Annotated[
        str | None, typer.Option(metavar="ID", help="Reject a report that is about another commit.")
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of templates that replace those of devfix.")
    ] = None,
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="URL of GitHub's API [default: derived from the remote]")
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What publishes, such as a workflow: it continues its pull requests when the command has changed.",
        ),
    ] = "",
    accept_line: Annotated[
        list[str] | None,
        typer.Option(metavar="DIGEST", help="Publish a line that looks like a credential and is none; repeatable."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    output: Annotated[
        StepFormat,
        typer.Option("--format", help="Output format: text, json (one object), or outputs (lines for GITHUB_OUTPUT)."),
    ] = StepFormat.text,
) -> int:
    """Open or update the pull request of a report.

    The fixes are pushed to a branch. No code of the repository is run.

    Each failure has one branch and one pull request, which is closed once the failure is fixed. A pull request that
    somebody closed stays closed, and a branch that somebody else pushed to is not updated.
    """
    try:
        from devfix.publish.request import Request
        from devfix.publish.request import publish as steps
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("devfix"):
            raise
        from devfix.cli.missing_extras import extra_requirements

        raise UserError(f"publishing needs {error.name}: pip install {extra_requirements('publish')}") from error
    from devfix.cli.pages import page_of

    request = Request(
        report,
        remote,
        base,
        branch,
        commit,
        pull_request,
        draft,
        label or (),
        per_fix,
        dry_run,
        templates,
        api_url,
        source,
        accept_line or (),
    )
    done = []
    for step in steps(request, page_of, lambda words: print(f"devfix: {words}", file=sys.stderr)):
        done.append(step)
        if output is not StepFormat.json:
            words = ("would be " if dry_run and step.action != "left" else "") + describe(step)
            print(words, file=sys.stdout if output is StepFormat.text else sys.stderr)
    if output is StepFormat.json:
        print(json.dumps({"schema": "devfix-publish/1", "steps": [asdict(step) for step in done]}, indent=2))
    elif output is StepFormat.outputs:
        first = next((step for step in done if step.number), None)
        print(f"pull-request-number={first.number if first else ''}")
        print(f"pull-request-url={one_line(first.url) if first else ''}")
        print(f"pull-request-action={first.action if first else ''}")
    elif not done:
        print("nothing to publish: the report has no fix")
    return 0


def describe(step: PublishAction) -> str:
    """Return a step in one line."""
    parts = [step.action, f"#{step.number}" if step.number else "", step.branch, step.title, step.url]
    return one_line("  ".join(part for part in parts if part) + (f": {step.why}" if step.why else ""), 400)
