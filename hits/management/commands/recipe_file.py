from __future__ import annotations

from typing import Any

from hits.flow.setup import project_files
from hits.management.commands._base import ProjectCommand


class Command(ProjectCommand):
    changing = ()
    help = "Print a project's recipe as TOML, with all settings; `create_project --file` starts a project from it."

    def run(self, options: dict[str, Any]) -> None:
        self.stdout.write(project_files.written(self.project(options)), ending="")
