"""JSON Schema validators for every record we write. For `doctor` and tests: hot paths never load this."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

NAMES = ("state", "event", "index", "mirror", "metric", "config", "transcript-record", "transcript-index", "handoff",
         "handoff-pattern", "handoff-pending")  # fmt: skip


def schema_dir() -> Path:
    """The directory of the schemas: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "schemas"
    return inside if inside.is_dir() else package.parent / "schemas"


@cache
def load(name: str) -> dict[str, Any]:
    """One schema document."""
    document: dict[str, Any] = orjson.loads((schema_dir() / f"{name}.schema.json").read_bytes())
    return document


@cache
def validator(name: str) -> Validator:
    """The compiled validator for one kind of record, cached."""
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    documents = [load(each) for each in NAMES]
    registry: Registry[Any] = Registry().with_resources(
        (document["$id"], DRAFT202012.create_resource(document)) for document in documents
    )
    return Draft202012Validator(load(name), registry=registry)


def schema_problems(name: str, record: Any) -> list[str]:
    """`problems` under a name that says whose, for other rooms."""
    return problems(name, record)


def problems(name: str, record: Any) -> list[str]:
    """The problems of a record, each as `where: what`; empty if it is valid."""
    found = validator(name).iter_errors(record)
    return sorted(f"{'/'.join(map(str, each.absolute_path)) or '(whole)'}: {each.message}"[:300] for each in found)
