"""The suite's own test that failed and the suite's options -> what pytest is told to run it alone."""

from __future__ import annotations

from devfix.model import Target


def own_words(target: Target, test: str) -> list[str]:
    """Return words for pytest; none where no test failed (`test` is ""), or where the suite was given no options.

    A suite may choose its device by an option of its own (`--device cuda`), and without it has no test of that name.
    """
    here = target.root / target.subfolder
    options = [word for word in _words_of_pytest(target) if not (here / word.partition("::")[0]).exists()]
    return [*options, test] if test and options else []


def _words_of_pytest(target: Target) -> list[str]:
    """The words of a command after `python -m pytest`; none of any other."""
    words = list(target.command)
    for at in range(len(words) - 1):
        if words[at : at + 2] == ["-m", "pytest"]:
            return words[at + 2 :]
    return []
