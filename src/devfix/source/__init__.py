"""Query and edit Python files.

The only package that parses. LibCST preserves every byte; a file that does not print back as it was read is not
editable.
"""

from devfix.source.file import File
from devfix.source.parsed_module import SourceError
from devfix.source.sources import Sources
from devfix.source.text import check_syntax, code, first_difference, last_name, normalize

__all__ = ["File", "SourceError", "Sources", "check_syntax", "code", "first_difference", "last_name", "normalize"]
