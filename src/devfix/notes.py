"""The sink for notes: what a user should know besides the result, from whatever part of devfix noticed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Notes:
    """Sentences for the user, in the order in which they were added, each once.

    >>> notes = Notes()
    >>> notes.add("rule a/b disabled", "the failure is flaky", "rule a/b disabled")
    >>> list(notes)
    ['rule a/b disabled', 'the failure is flaky']
    """

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self._sentences = dict.fromkeys(sentences)

    def add(self, *sentences: str) -> None:
        """Add sentences; one that is there already keeps its place."""
        self._sentences.update(dict.fromkeys(sentences))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)
