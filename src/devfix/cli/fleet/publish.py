"""`devfix fleet publish`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.extras import publishing
from devfix.cli.fleet.extra import ResultsArgument, fleet_extra
from devfix.cli.fleet.status import StatusFormat
from devfix.cli.options.pull_requests import Assignees, Draft, Labels, Reviewers, Templates
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.fleet.results.publications import PublicationRecord

EPILOG = """Examples:

\b
  devfix fleet publish fleet-results --dry-run
  devfix fleet publish fleet-results --draft --max-open 100 --per-hour 20

The token is read from GITHUB_TOKEN (or GH_TOKEN), GITLAB_TOKEN, FORGEJO_TOKEN or GITEA_TOKEN, by the forge of each
repository. The command is idempotent, and goes on where it was interrupted.

Exit codes: 0 success; 1 a repository was refused; 2 not a folder of results; 3 internal error."""


def publish(
    results: ResultsArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    max_open: Annotated[
        int, typer.Option(metavar="N", min=1, help="Open no pull request while N of the fleet are open.")
    ] = 50,
    per_hour: Annotated[int, typer.Option(metavar="N", min=1, help="Open at most N pull requests in an hour.")] = 30,
    draft: Draft = False,
    label: Labels = None,
    reviewer: Reviewers = None,
    assignee: Assignees = None,
    templates: Templates = None,
    forge: Annotated[
        ForgeKind | None,
        typer.Option(
            metavar="FORGE",
            help="github, gitlab, forgejo or gitea, of all repositories [default: by the host of each address]",
        ),
    ] = None,
    output: Annotated[
        StatusFormat, typer.Option("--format", help="Output format: text, or json (one object).")
    ] = StatusFormat.text,
) -> int:
    """Open or update the pull requests of a fleet, in one repository after the other.

    What a repository refuses is said, and the others go on. What was done is recorded in the folder of results. No code
    of a repository is run.
    """
    with publishing(), fleet_extra():
        from devfix.cli.output.pages import page_of
        from devfix.fleet.results import ResultStore
        from devfix.fleet.results.layout import lock
        from devfix.fleet.results.publications import Publication, PublicationLog
        from devfix.fleet.results.publishing import FleetPublisher, FleetPublishOptions
        from devfix.publish.attributes import Attributes

        store = ResultStore.open(results)
        options = FleetPublishOptions(
            max_open,
            per_hour,
            draft,
            Attributes(tuple(label or ()), tuple(reviewer or ()), tuple(assignee or ()), ""),
            dry_run,
            templates,
            forge,
        )
        with lock(results / "publish.lock", "another `devfix fleet publish` works on it"):
            log = PublicationLog(store.layout.publications)
            publisher = FleetPublisher(store, log, options, page_of, _notify)
            done = []
            for record in publisher.publish():
                done.append(record)
                if output is StatusFormat.text and record.kind is not Publication.LEFT:
                    print(_line(record, dry_run), flush=True)
    if output is StatusFormat.json:
        import msgspec

        steps = [msgspec.to_builtins(record) for record in done]
        print(json.dumps({"schema": "devfix-fleet-publish/1", "steps": steps}, indent=2))
    elif left := [record for record in done if record.kind is Publication.LEFT]:
        print(one_line(f"left for a later run: {len(left)} of the reports: {left[-1].why}", 400))
    elif not done:
        print("nothing to publish: every fix is published, or there is none")
    return 1 if any(record.kind is Publication.REFUSED for record in done) else 0


def _notify(words: str) -> None:
    print(f"devfix: {words}", file=sys.stderr, flush=True)


def _line(record: PublicationRecord, dry_run: bool) -> str:
    where = f"{record.repository}{' ' + record.part if record.part else ''}"
    if not record.action:
        return one_line(f"{where}: {record.kind.value}{': ' + record.why if record.why else ''}", 400)
    would = "would be " if dry_run and record.action != "left" else ""
    parts = [record.action, f"#{record.number}" if record.number else "", record.branch, record.title, record.url]
    why = f": {record.why}" if record.why else ""
    return one_line(f"{where}: {would}{'  '.join(filter(None, parts))}{why}", 400)
