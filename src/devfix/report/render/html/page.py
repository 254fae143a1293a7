"""Render a page with its style and script inside; a content security policy allows for nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from jinja2 import PackageLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from devfix.model import is_on_gpu
from devfix.report.plain import one_line, plain, short_path
from devfix.report.render.html.highlight import diff_rows
from devfix.report.render.terminal.devices import size
from devfix.report.render.terminal.tensors import shape


def page(template: str, **values: object) -> str:
    """Return a template as a page; its variables are printed escaped, control characters included."""
    style, script = _part("style.css.jinja"), _part("script.js.jinja")
    text = (
        environment()
        .get_template(f"html/{template}")
        .render(
            values, style=Markup(style), script=Markup(script), style_hash=_digest(style), script_hash=_digest(script)
        )
    )
    return text.strip() + "\n"


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """Return the environment of the templates."""
    made = ImmutableSandboxedEnvironment(
        loader=PackageLoader("devfix.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else plain(str(value)),
    )
    made.filters.update(
        diff_rows=diff_rows, device_class=device_class, one_line=one_line, shape=shape, short=short_path, size=size
    )
    return made


def device_class(device: str) -> str:
    """Return the class of a device's colour: "gpu0", "gpu1", … for the first four GPUs, "host", "other".

    >>> device_class("cuda:1"), device_class("cuda:9"), device_class("cpu"), device_class("mixed")
    ('gpu1', 'gpu3', 'host', 'other')
    """
    kind, _, index = device.partition(":")
    if is_on_gpu(kind):
        return f"gpu{min(int(index), 3) if index.isdecimal() and index.isascii() else 0}"
    return "host" if kind == "cpu" else "other"


@cache
def _part(name: str) -> str:
    return environment().get_template(f"html/{name}").render().strip()


def _digest(text: str) -> str:
    """Return the hash by which the policy knows the style or the script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
