"""Publish the artifacts of a fleet, one repository after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devfix.errors import UserError
from devfix.fleet.records import Job
from devfix.fleet.results.arrow import STORED
from devfix.fleet.results.fixes import report_folders
from devfix.fleet.results.publications import Publication, PublicationLog, PublicationRecord
from devfix.fleet.results.reading import read_results
from devfix.fleet.results.store import ResultStore
from devfix.model import JobMode
from devfix.publish.action import PublishAction
from devfix.publish.attributes import Attributes
from devfix.publish.forges.connection import connect, known_forge
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.publish.proposals.pull_request_text import Page
from devfix.publish.request import Request
from devfix.publish.request import publish as publish_report
from devfix.report.plain import one_line

HOUR = 3600.0


@dataclass(frozen=True)
class FleetPublishOptions:
    """Options of all pull requests of a fleet, and how many there may be: open, and opened in an hour."""

    max_open: int
    per_hour: int
    draft: bool = False
    attributes: Attributes = field(default_factory=Attributes)
    dry_run: bool = False
    templates: Path | None = None
    forge: ForgeKind | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True)
class _Report:
    job: Job
    part: str
    folder: Path
    stored: int


class FleetPublisher:
    """Opens the pull requests of a fleet, and records each step; what is recorded as done is not done again.

    The address, the commit and the branch are those of the plan: a program under repair may have written the result.
    """

    def __init__(
        self,
        store: ResultStore,
        log: PublicationLog,
        options: FleetPublishOptions,
        page: Page,
        notify: Callable[[str], None],
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Initialize with the results and what was published; `notify` is called before waiting."""
        self._store, self._log, self._options, self._page, self._notify = store, log, options, page, notify
        self._now, self._sleep = now, sleep
        self._opened = log.opened_at()
        self._open = 0
        self._denied = ""

    def publish(self) -> Iterator[PublicationRecord]:
        """Publish every report that is not published, and yield each step, and what became of each report."""
        reports = list(self._reports())
        if not reports:
            return
        self._open = self._count_open()
        visited = self._log.open_pulls().keys()
        for report in reports:
            self._denied = self._explain_cap()
            if self._denied and report.job.address not in visited:
                yield self._record(report, Publication.LEFT, why=self._denied)
                continue
            yield from self._publish(report)

    def _publish(self, report: _Report) -> Iterator[PublicationRecord]:
        self._denied = ""
        if unknown := self._explain_unknown(report.job.address):
            yield self._record(report, Publication.REFUSED, why=unknown)
            return
        try:
            for step in publish_report(self._request(report), self._page, self._notify):
                yield self._record(report, Publication.STEP, step)
        except ModuleNotFoundError:
            raise  # an extra is missing, for all
        except UserError as error:
            yield self._record(report, Publication.REFUSED, why=one_line(str(error)))
        except Exception as error:  # whatever an artifact does to devfix, the others are published
            yield self._record(report, Publication.REFUSED, why=f"internal error: {type(error).__name__}")
        else:
            yield self._record(report, Publication.LEFT if self._denied else Publication.DONE, why=self._denied)

    def _request(self, report: _Report) -> Request:
        job, options = report.job, self._options
        # A search has a report for each finding, and each has a command of its own: none continues those of another.
        source = " ".join(filter(None, ("fleet", job.subfolder, job.run))) if job.mode is JobMode.REPAIR else ""
        return Request(
            report.folder,
            remote=job.address,
            base=job.ref.removeprefix("refs/heads/") or None,
            commit=job.commit,
            draft=options.draft,
            attributes=options.attributes,
            dry_run=options.dry_run,
            templates=options.templates,
            source=source,
            forge=options.forge,
            environment=options.environment,
            permit=self._permit,
        )

    def _permit(self) -> str:
        """Return why no pull request may be opened now, after waiting until the hour has room for one."""
        self._denied = self._explain_cap()
        if self._denied:
            return self._denied
        while not self._options.dry_run:
            now = self._now()
            self._opened = [each for each in self._opened if each > now - HOUR]
            if len(self._opened) < self._options.per_hour:
                break
            seconds = self._opened[-self._options.per_hour] + HOUR - now
            self._notify(f"{self._options.per_hour} pull requests were opened in an hour: waiting {seconds:.0f} s")
            self._sleep(max(seconds, 1.0))
        return ""

    def _explain_unknown(self, address: str) -> str:
        """Return why the forge must be named: a host that nobody knows would be sent the token of GitHub."""
        if self._options.forge or known_forge(address, self._options.environment):
            return ""
        return f"nothing says which forge {one_line(address)} is on: name it with --forge"

    def _explain_cap(self) -> str:
        if self._open < self._options.max_open:
            return ""
        return f"{self._open} pull requests of the fleet are open, and {self._options.max_open} may be (--max-open)"

    def _record(
        self, report: _Report, kind: Publication, step: PublishAction | None = None, why: str = ""
    ) -> PublicationRecord:
        """Count and record what was done; after a dry run, or where nothing was done, nothing is recorded."""
        if step and step.action in ("opened", "reopened"):
            self._open += 1
            self._opened.append(self._now())
        elif step and step.action == "closed":
            self._open -= 1
        record = PublicationRecord(
            kind=kind,
            key=report.job.key,
            repository=report.job.repository,
            address=report.job.address,
            part=report.part,
            stored=report.stored,
            action=step.action if step else "",
            branch=step.branch if step else "",
            number=step.number if step else 0,
            url=step.url if step else "",
            title=step.title if step else "",
            why=step.why if step else why,
            at=self._now(),
        )
        if not self._options.dry_run and kind is not Publication.LEFT:
            self._log.add(record)
        return record

    def _reports(self) -> Iterator[_Report]:
        """Yield the reports to publish: those with fixes, and those that may show that an earlier failure is gone."""
        rows = read_results(self._store.layout, ("key", "fixes", STORED)).to_pylist()
        results = {row["key"]: (row["fixes"], row[STORED]) for row in rows}
        earlier = self._log.open_pulls()
        for job in self._store.plan():
            fixes, stored = results.get(job.key, (0, 0))
            artifact = self._store.artifact(job.key) if fixes or job.address in earlier else None
            for folder in report_folders(artifact) if artifact else ():
                part = "" if folder == artifact else folder.name
                if not self._log.is_done(job.key, part, stored):
                    yield _Report(job, part, folder, stored)

    def _count_open(self) -> int:
        """Return how many pull requests of the fleet are open, by what the forges say now."""
        count = 0
        for address, numbers in self._log.open_pulls().items():
            try:
                options = self._options
                there = connect(address, options.forge, None, options.environment, options.dry_run, self._notify)
                count += len(numbers & {pull.number for pull in there.forge.open_pulls()})
            except UserError as error:
                self._notify(f"{one_line(address)}: {one_line(str(error))}: its pull requests count as open")
                count += len(numbers)
        return count
