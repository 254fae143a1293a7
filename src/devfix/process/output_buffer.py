"""Keep the output of a program in bounded memory."""

from __future__ import annotations


class BoundedOutput:
    """The head and the tail of a stream, in bounded memory."""

    def __init__(self, limit: int) -> None:
        """Keep at most about `limit` bytes, half of them from the start of the stream."""
        self.half = max(limit // 2, 1)
        self.head, self.tail, self.dropped = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Append data."""
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room else data
        if len(self.tail) > 2 * self.half:  # trimmed in large steps, so that endless output stays cheap
            self._cut()

    def _cut(self) -> None:
        excess = max(len(self.tail) - self.half, 0)
        del self.tail[:excess]
        self.dropped += excess

    def text(self) -> str:
        """Return the kept output, with a note where bytes were dropped."""
        self._cut()
        gap = f"\n[… {self.dropped} bytes left out …]\n".encode() if self.dropped else b""
        return bytes(self.head + gap + self.tail).decode("utf-8", "backslashreplace")
