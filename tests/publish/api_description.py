"""What a forge's own description of its API (OpenAPI 3, or Swagger 2) says of a request."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema
import yaml

DESCRIPTIONS = Path(__file__).parent / "descriptions"
# The whole description of a forge, in place of ours, which has what devfix uses.
VARIABLES = {
    "gitlab": "DEVFIX_GITLAB_API",
    "forgejo": "DEVFIX_FORGEJO_API",
    "gitea": "DEVFIX_GITEA_API",
}
_NUMBER = {"integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "boolean": r"true|false"}


@dataclass
class Description:
    """A description: `base` is the part of each path that stands before those of the description."""

    data: dict[str, Any]

    @property
    def base(self) -> str:
        return str(self.data.get("basePath", ""))

    def violations(self, method: str, target: str, body: bytes) -> list[str]:
        """Return what is wrong with a request: its path, its method, each part of its query, its body."""
        parts = urlsplit(target)
        for template, methods in self.data["paths"].items():
            names = re.findall(r"\{(\w+)\}", template)
            pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(self.base + template))
            found = re.fullmatch(pattern, parts.path)
            if found and method.lower() in methods:
                operation = methods[method.lower()]
                given = dict(zip(names, map(unquote, found.groups()), strict=True))
                said = [*self._path(operation, given), *self._query(operation, parts.query)]
                said += self._body(operation, body)
                return [f"{method} {target}: {each}" for each in said]
        return [f"{method} {target}: not described"]

    def _parameters(self, operation: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
        every = [self._resolved(each) for each in operation.get("parameters", ())]
        return {each["name"]: each for each in every if each["in"] == where}

    def _path(self, operation: dict[str, Any], given: dict[str, str]) -> list[str]:
        known = self._parameters(operation, "path")
        return [wrong for name, text in given.items() if (wrong := self._scalar(name, known[name], text))]

    def _query(self, operation: dict[str, Any], query: str) -> list[str]:
        known = self._parameters(operation, "query")
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        needed = {name for name, each in known.items() if each.get("required")}
        said = [f"query {name}: missing" for name in needed - dict(given).keys()]
        for name, text in given:
            if name.removesuffix("[]") not in known:
                said.append(f"query {name}: not described")
            elif wrong := self._scalar(name, known[name.removesuffix("[]")], text):
                said.append(wrong)
        return said

    def _scalar(self, name: str, parameter: dict[str, Any], text: str) -> str:
        schema = self._resolved(parameter.get("schema", parameter))
        if "oneOf" in schema:
            fits = any(not self._scalar(name, {"schema": each}, text) for each in schema["oneOf"])
            return "" if fits else f"{name}: {text!r} is none of the kinds"
        if "enum" in schema and text not in schema["enum"]:
            return f"{name}: {text!r} is none of {schema['enum']}"
        pattern = _NUMBER.get(schema.get("type", "string"))
        return f"{name}: {text!r} is no {schema['type']}" if pattern and not re.fullmatch(pattern, text) else ""

    def _body(self, operation: dict[str, Any], body: bytes) -> list[str]:
        schema, required = self._schema(operation)
        if not body:
            return ["body: missing"] if required else []
        if schema is None:
            return ["body: none is described"]
        data = json.loads(body)
        unknown = [f"body {name}: not described" for name in data if name not in schema.get("properties", {})]
        errors = jsonschema.Draft7Validator(schema).iter_errors(data)
        return unknown + [f"body {'.'.join(map(str, each.path))}: {each.message}" for each in errors]

    def _schema(self, operation: dict[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        if "requestBody" in operation:
            body = self._resolved(operation["requestBody"])
            return self._expanded(body["content"]["application/json"]["schema"]), bool(body.get("required"))
        for each in self._parameters(operation, "body").values():
            return self._expanded(each["schema"]), bool(each.get("required"))
        return None, False

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            found: Any = self.data
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return schema

    def _expanded(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema as JSON Schema has it: without references, and with null for what may be null."""
        schema = dict(self._resolved(schema))
        if "properties" in schema:
            schema["properties"] = {name: self._expanded(each) for name, each in schema["properties"].items()}
        if "items" in schema:
            schema["items"] = self._expanded(schema["items"])
        if schema.pop("nullable", False) and "type" in schema:
            schema["type"] = [schema["type"], "null"]
        return schema


def read_description(forge: str) -> Description:
    """Return the whole description that an environment variable names, else ours of what devfix uses."""
    whole = os.environ.get(VARIABLES[forge])
    ours = DESCRIPTIONS / ("gitlab.yaml" if forge == "gitlab" else "forgejo.yaml")
    text = (Path(whole) if whole else ours).read_text("utf-8")
    is_json = text.lstrip().startswith("{")
    return Description(json.loads(text) if is_json else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
