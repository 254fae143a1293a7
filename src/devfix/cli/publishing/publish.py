"""`devfix publish`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.extras import publishing
from devfix.cli.options.pull_requests import Assignees, Draft, Labels, Reviewers, Templates
from devfix.errors import UserError
from devfix.publish.commit_method import CommitMethod
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.publish.action import PublishAction
    from devfix.publish.request import Request


class StepFormat(str, Enum):
    """Format in which the steps of publishing are printed."""

    text = "text"
    json = "json"
    outputs = "outputs"
    patch = "patch"


EPILOG = """Examples:

\b
  devfix repair . --output found && devfix publish found --dry-run
  devfix publish report.json --remote https://github.com/ada/model --base main --draft
  devfix publish found --remote https://git.example.org/ada/model --forge forgejo
  devfix publish found --format patch --output patches

The token is read from GITHUB_TOKEN (or GH_TOKEN), GITLAB_TOKEN, FORGEJO_TOKEN or GITEA_TOKEN, by the forge. The
command is idempotent.

Exit codes: 0 success; 2 invalid report, or rejected by the forge; 3 internal error."""


def publish(
    report: Annotated[
        Path,
        typer.Argument(metavar="REPORT", help="A report in JSON, or a folder written by `devfix repair --output`."),
    ],
    remote: Annotated[
        str | None,
        typer.Option(
            metavar="REMOTE",
            help="Where to push: a URL, or a remote of the current repository [default: origin]",
        ),
    ] = None,
    forge: Annotated[
        ForgeKind | None,
        typer.Option(
            metavar="FORGE",
            help="github, gitlab, forgejo or gitea [default: by the remote's host, or the job that runs]",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="BRANCH", help="Base branch of the pull request [default: the remote's default branch]"),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Branch to push [default: devfix/RULE-FAILURE]")
    ] = None,
    draft: Draft = False,
    label: Labels = None,
    reviewer: Reviewers = None,
    assignee: Assignees = None,
    milestone: Annotated[str, typer.Option(metavar="TITLE", help="Open milestone of pull requests.")] = "",
    max_open: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Open no pull request while N of devfix are open.")
    ] = None,
    per_fix: Annotated[bool, typer.Option("--per-fix", help="Open one pull request for each independent fix.")] = False,
    pull_request: Annotated[
        str | None,
        typer.Option(metavar="N|event", help="Do not push; comment on this pull request instead (for forks)."),
    ] = None,
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="With --pull-request, suggest the changes in a review instead of a comment."),
    ] = False,
    commits: Annotated[
        CommitMethod | None,
        typer.Option(help="Push commits with git [default], or let GitHub's API create and sign them."),
    ] = None,
    delete_branches: Annotated[
        bool,
        typer.Option(
            "--delete-branches", help="Delete branches of pull requests that devfix closed, or somebody merged."
        ),
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Keep one issue that lists the fixes, with boxes to retry and ignore.")
    ] = False,
    commit: Annotated[
        str | None, typer.Option(metavar="ID", help="Reject a report that is about another commit.")
    ] = None,
    templates: Templates = None,
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="URL of the forge's API [default: derived from the remote]")
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
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append what was done as Markdown, with links; for GITHUB_STEP_SUMMARY."),
    ] = None,
    output: Annotated[
        StepFormat,
        typer.Option(
            "--format",
            help="Output format: text, json (one object), or outputs (lines for GITHUB_OUTPUT). With patch, nothing is "
            "pushed: patches for `git am` and the text of each pull request are written to a folder.",
        ),
    ] = StepFormat.text,
    folder: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="Folder for --format patch [default: devfix-patches]"),
    ] = None,
) -> int:
    """Open or update the pull request of a report.

    The fixes are pushed to a branch. No code of the repository is run.

    Each failure has one branch and one pull request, which is closed once the failure is fixed. A pull request that
    somebody closed stays closed, and a branch that somebody else pushed to is not updated.

    Options that are not given are taken from [tool.devfix.publish] of the repository, at the commit of the report.
    """
    if folder is not None and output is not StepFormat.patch:
        raise UserError("--output: only --format patch writes to a folder")
    if pull_request is not None and output is StepFormat.patch:
        raise UserError("--pull-request: --format patch writes no comments")
    if suggest and pull_request is None:
        raise UserError("--suggest: say for which pull request, with --pull-request N, or `event` in a workflow")
    with publishing():
        from devfix.publish.attributes import Attributes
        from devfix.publish.request import Request
    request = Request(
        report,
        remote,
        base,
        branch,
        commit,
        pull_request,
        draft,
        Attributes(tuple(label or ()), tuple(reviewer or ()), tuple(assignee or ()), milestone),
        per_fix,
        max_open,
        dry_run,
        templates,
        api_url,
        source,
        accept_line or (),
        forge,
        commits,
        delete_branches,
        dashboard,
        suggest,
    )
    with publishing():
        done = list(_carried_out(request, output, folder or Path("devfix-patches")))
    if summary is not None:
        from devfix.publish.action import summarize

        _append(summary, summarize(done))
    if output is StepFormat.json:
        print(json.dumps({"schema": "devfix-publish/1", "steps": [asdict(step) for step in done]}, indent=2))
    elif output is StepFormat.outputs:
        first = next((step for step in done if step.number and step.action != "listed"), None)
        print(f"pull-request-number={first.number if first else ''}")
        print(f"pull-request-url={one_line(first.url) if first else ''}")
        print(f"pull-request-action={first.action if first else ''}")
    elif not done:
        print("nothing to publish: the report has no fix")
    return 0


def _carried_out(request: Request, output: StepFormat, folder: Path) -> Iterator[PublishAction]:
    """Carry out the request, and yield each step when it is done and shown."""
    from devfix.cli.output.pages import page_of
    from devfix.publish.action import describe
    from devfix.publish.patch import write_patches
    from devfix.publish.request import publish as steps

    if output is StepFormat.patch:
        found = write_patches(request, page_of, folder)
    else:
        found = steps(request, page_of, lambda words: print(f"devfix: {words}", file=sys.stderr))
    for step in found:
        if output is not StepFormat.json:
            words = ("would be " if request.dry_run and step.action != "left" else "") + describe(step)
            print(words, file=sys.stderr if output is StepFormat.outputs else sys.stdout)
        yield step


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UserError(f"--summary {file}: cannot be written: {error.strerror}") from error
