"""What a program prints, kept in a bounded space."""

from __future__ import annotations


class BoundedOutput:
    """The head and the tail of a stream, in a bounded space."""

    def __init__(self, limit: int) -> None:
        """Keep at most about `limit` bytes, half of them from the start."""
        self.half = max(limit // 2, 1)
        self.head, self.tail, self.dropped = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Take what came next."""
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room else data
        if len(self.tail) > 2 * self.half:  # cut in large steps: a program that prints without end must stay cheap
            self._cut()

    def _cut(self) -> None:
        excess = max(len(self.tail) - self.half, 0)
        del self.tail[:excess]
        self.dropped += excess

    def text(self) -> str:
        """Return what is kept, with a note where bytes were left out."""
        self._cut()
        gap = f"\n[… {self.dropped} bytes left out …]\n".encode() if self.dropped else b""
        return bytes(self.head + gap + self.tail).decode("utf-8", "backslashreplace")
