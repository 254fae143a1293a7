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
    """How the steps of publishing are printed."""

    text = "text"
    json = "json"
    outputs = "outputs"


EPILOG = """Examples:

\b
  devfix repair . --output found && devfix publish found --dry-run
  devfix publish report.json --remote https://github.com/ada/model --base main --draft

The token is read from GITHUB_TOKEN (or GH_TOKEN). Running it again changes nothing that is as it should be.

Exit codes: 0 all is as it should be; 2 the report is not taken, or GitHub refuses; 3 a fault of devfix itself."""


def publish(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="A report in JSON, or the folder of `devfix repair --output`.")
    ],
    remote: Annotated[
        str,
        typer.Option(metavar="REMOTE", help="Where to push: an address on GitHub, or a remote of the repository here."),
    ] = "origin",
    base: Annotated[
        str | None, typer.Option(metavar="BRANCH", help="Where to merge to [default: the remote's default branch]")
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="The branch to push [default: devfix/, the rule, the failure]")
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Open pull requests as drafts.")] = False,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A label for pull requests; may be given more than once.")
    ] = None,
    per_fix: Annotated[
        bool, typer.Option("--per-fix", help="One pull request for each fix that stands alone, not one for all.")
    ] = False,
    pull_request: Annotated[
        str | None,
        typer.Option(metavar="N|event", help="Push nothing, and comment on this pull request: for code from forks."),
    ] = None,
    commit: Annotated[
        str | None, typer.Option(metavar="ID", help="Take the report only if it is about this commit.")
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Templates in place of devfix's own, of the same names.")
    ] = None,
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="GitHub's interface [default: the remote's own]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look everything up, and change nothing.")] = False,
    output: Annotated[
        StepFormat, typer.Option("--format", help="Lines to read, one JSON object, or lines for GITHUB_OUTPUT.")
    ] = StepFormat.text,
) -> int:
    """Push what a repair found and open or update its pull request. Nothing of the repository is run.

    One failure has one branch and one pull request. It is closed when the failure is gone; what a person closed stays
    closed, and a branch that a person pushed to is left alone.
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
        report, remote, base, branch, commit, pull_request, draft, label or (), per_fix, dry_run, templates, api_url
    )
    done = []
    for step in steps(request, page_of, lambda words: print(f"devfix: {words}", file=sys.stderr)):
        done.append(step)
        if output is not StepFormat.json:
            words = ("would be " if dry_run and step.action != "left" else "") + told(step)
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


def told(step: PublishAction) -> str:
    """Return a step in one line."""
    parts = [step.action, f"#{step.number}" if step.number else "", step.branch, step.title, step.url]
    return one_line("  ".join(part for part in parts if part) + (f": {step.why}" if step.why else ""), 400)
