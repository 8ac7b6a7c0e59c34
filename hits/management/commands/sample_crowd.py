from __future__ import annotations

from typing import Any

from hits import sample_crowd, tasks
from hits.management.commands._base import ProjectCommand, jobs_run_here


class Command(ProjectCommand):
    help = "Let a simulated crowd answer a sample project, on one's own machine, until its HITs take no more answers."

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if not sample_crowd.ask(project, None):
            return self.say(f"A simulated crowd answers {project.slug} already.")
        with jobs_run_here():
            answers = tasks.let_crowd_answer(project.pk)
        self.say(f"{answers:,} answer{'' if answers == 1 else 's'} came in. See: manage.py status {project.slug}")
