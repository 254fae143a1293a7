"""Stands in for tiktoken, which downloads its vocabulary: a token for each word."""

from zlib import crc32


class _Words:
    def encode(self, text, allowed_special=()):
        return [crc32(word.encode()) % 128 for word in text.split()]

    def decode(self, tokens):
        return " ".join(f"<{token}>" for token in tokens)


def get_encoding(name):
    return _Words()
