"""Jinja2 environments for reports: everything that a template prints is escaped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from devfix.errors import UserError
from devfix.report.plain import one_line, plain
from devfix.report.render.pull_request.commit_message import wrap_paragraph
from devfix.report.render.pull_request.markdown import code, fence, prose
from devfix.report.render.terminal.fix import describe_worlds
from devfix.report.render.terminal.headline import world


def markdown(package: str, folder: Path | None = None) -> ImmutableSandboxedEnvironment:
    """Return an environment for Markdown: `{{ x }}` prints prose, `{{ x | code }}` and `{{ x | fence }}` print code.

    A template in `folder` takes precedence over the package's. It may come from a repository, so that templates are
    rendered in Jinja2's sandbox.
    """
    environment = _environment(package, folder, lambda value: value if isinstance(value, Markup) else prose(str(value)))
    environment.filters.update(code=code, fence=fence, prose=prose, seen=describe_worlds, world=world)
    return environment


def text(package: str, folder: Path | None = None) -> ImmutableSandboxedEnvironment:
    """Return an environment for plain text: each `{{ x }}` prints one line without control characters."""
    environment = _environment(
        package, folder, lambda value: value if isinstance(value, Markup) else one_line(str(value))
    )
    environment.filters.update(
        wrap=lambda *given: Markup(wrap_paragraph(*given)),
        one_line=lambda *given: Markup(one_line(*given)),
        plain=plain,
        world=world,
    )
    return environment


def render(environment: ImmutableSandboxedEnvironment, template: str, **values: object) -> str:
    """Render a template; an error in a template is a UserError that names it."""
    try:
        return environment.get_template(template).render(values).strip() + "\n"
    except TemplateError as error:
        number = getattr(error, "lineno", None)
        line = f", line {number}" if number else ""
        raise UserError(f"template {template}{line}: {error.message or type(error).__name__}") from error


def _environment(package: str, folder: Path | None, finalize: Callable[[object], str]) -> ImmutableSandboxedEnvironment:
    if folder is not None and not folder.is_dir():
        raise UserError(f"{folder}: no such folder of templates")
    loaders: list[BaseLoader] = [PackageLoader(package)]
    if folder is not None:
        loaders.insert(0, FileSystemLoader(folder))
    return ImmutableSandboxedEnvironment(
        loader=ChoiceLoader(loaders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalize,
    )
