"""The options of the commands that open pull requests."""

from pathlib import Path
from typing import Annotated

import typer

Draft = Annotated[bool, typer.Option("--draft", help="Open pull requests as drafts.")]

Labels = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Label for pull requests; repeatable.")]

Reviewers = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Request a review, from a person or org/team; repeatable.")
]

Assignees = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Assign pull requests to a person; repeatable.")
]

Templates = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Folder of templates that replace those of devfix.")
]
