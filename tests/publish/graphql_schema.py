"""GitHub's published GraphQL schema, which checks requests in a process of Node.js."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class GraphQLSchema:
    """The schema: what it says of each request."""

    process: subprocess.Popen[str]

    def violations(self, data: Any) -> list[str]:
        """Return what is wrong with a query and its variables."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(data) + "\n")
        self.process.stdin.flush()
        return list(json.loads(self.process.stdout.readline()))


@contextlib.contextmanager
def graphql_schema(modules: Path) -> Iterator[GraphQLSchema]:
    """Start the process that has read the schema."""
    command = ["node", str(Path(__file__).with_name("graphql.mjs")), str(modules)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        yield GraphQLSchema(process)
        process.terminate()
