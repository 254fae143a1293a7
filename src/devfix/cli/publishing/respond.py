"""`devfix respond`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from devfix.report.plain import one_line

EPILOG = """Commands of comments, each in the first line of a comment:

\b
  /devfix rebase    build the branch again, on the base branch of the next run
  /devfix ignore    close the pull request, and keep it closed
  /devfix explain   comment with the pages of the rules that made the fix

The token is read from GITHUB_TOKEN (or GH_TOKEN), the event from GITHUB_EVENT_PATH.

Exit codes: 0 success, also if nothing was done; 2 no such event, or rejected by GitHub; 3 internal error."""


def respond(
    remote: Annotated[
        str, typer.Option(metavar="REMOTE", help="The repository: a GitHub URL, or a remote of the current one.")
    ] = "origin",
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="URL of GitHub's API [default: derived from the remote]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    outputs: Annotated[bool, typer.Option("--outputs", help="Print lines for GITHUB_OUTPUT.")] = False,
) -> int:
    """Carry out a command in a comment on one of devfix's pull requests.

    For a workflow `on: issue_comment`. Only people who may write to the repository can give commands; edited comments
    and those of bots are left alone. No code of the repository is run.
    """
    from devfix.cli.extras import publishing
    from devfix.cli.output.pages import page_of

    with publishing():
        from devfix.publish.action import describe
        from devfix.publish.comments.respond import answer
        from devfix.publish.request import Request

    request = Request(Path(), remote, api=api_url, dry_run=dry_run)
    step = answer(request, page_of, lambda words: print(f"devfix: {words}", file=sys.stderr))
    print(
        ("would " if dry_run and step.action != "left" else "") + describe(step),
        file=sys.stderr if outputs else sys.stdout,
    )
    if outputs:
        print(f"pull-request-number={step.number or ''}")
        print(f"pull-request-url={one_line(step.url)}")
        print(f"pull-request-action={step.action}")
    return 0
