"""A second reading of the service model, independent of marketplace.wire.contract: does a body fit a shape?"""

import re
from typing import Any

from botocore.model import Shape


def mismatches(value: Any, shape: Shape, path: str = "$") -> list[str]:
    """Every place where a JSON value breaks its output shape, unknown members included."""
    kind = shape.type_name
    if kind == "structure":
        return _structure(value, shape, path)
    if kind == "list":
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [m for i, item in enumerate(value) for m in mismatches(item, shape.member, f"{path}[{i}]")]
    wanted = {"string": str, "integer": int, "long": int, "boolean": bool, "timestamp": (int, float)}[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{path} is {value!r}, not a {kind}"]
    return _constraints(value, shape, path)


def _structure(value: Any, shape: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path} is no structure"]
    found = [f"{path}.{name} is unknown" for name in value.keys() - shape.members.keys()]
    found += [f"{path}.{name} is missing" for name in shape.required_members if name not in value]
    for name, member in shape.members.items():
        if name in value:
            found += mismatches(value[name], member, f"{path}.{name}")
    return found


def _constraints(value: Any, shape: Any, path: str) -> list[str]:
    metadata, found = shape.metadata, []
    size = len(value) if isinstance(value, str) else value
    if "max" in metadata and size > metadata["max"]:
        found.append(f"{path} is too large")
    if "min" in metadata and size < metadata["min"]:
        found.append(f"{path} is too small")
    # Questions have names such as "answer", whatever the model says about them in review results.
    named_by_requester = path.endswith(".QuestionId")
    if "pattern" in metadata and not named_by_requester and not re.search(metadata["pattern"], value):
        found.append(f"{path} breaks its pattern")
    if getattr(shape, "enum", None) and value not in shape.enum:
        found.append(f"{path} is not in its enum")
    return found
