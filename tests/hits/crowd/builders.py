"""The programs in samples/ that make the sample files, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

SAMPLES = Path(__file__).resolve().parents[3] / "samples"


def builder(name: str) -> ModuleType:
    """samples/<name>.py."""
    spec = importlib.util.spec_from_file_location(f"samples_{name}", SAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
