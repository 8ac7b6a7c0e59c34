"""An installation whose two databases were left by version 0.3, half-way through its sample."""

from __future__ import annotations

import json
import shutil

from ops.surroundings import ROOT
from tests.faults.installation import Installation
from tests.upgrades.left import FROM_0_3, load
from tests.upgrades.make import SECRET_KEY

# Addresses of task pages were signed with it.
SETTINGS = {"SECRET_KEY": SECRET_KEY}

TAKE_OVER = """
import json
from django.contrib.auth import get_user_model
from hits.answers.verbs import reviewing
from hits.projects.verbs import projects
from hits.accounts.verbs.api_tokens import make_token
from hits.models import Assignment, Item, Project
project, lead = Project.objects.get(slug="sample-harbour-news"), get_user_model().objects.get(username="lead")
projects.want_seconds(project, 0)
# No lead looks at what the check did not pass: it is approved by time at once, and what waited before now.
project.stages.update(auto_approval_seconds=1, unchecked_answers=1000)
for stage in project.stages.filter(crowd=True):
    reviewing.approve(stage, list(reviewing.undecided(stage).values_list("pk", flat=True)), lead)
print(json.dumps({"project": project.pk, "slug": project.slug, "namespace": project.namespace,
                  "projects": list(Project.objects.values_list("pk", flat=True)),
                  "items": Item.objects.filter(stage__project=project, stage__crowd=True).count(),
                  "answers": Assignment.objects.count(),
                  "token": make_token(lead, "faults", "pay")[1]}))
"""


class Upgraded(Installation):
    """Brought to this version by the migrations that run before its programs start."""

    def _before(self) -> None:
        for name in ("annotate", "marketplace"):
            load(FROM_0_3, name, self.stack.data_dir / f"{name}.sqlite3", self.stack.web_url)

    def _get_key(self) -> None:
        """That of the requester who published its HITs."""
        sql = "SELECT access_key_id AS id, secret FROM marketplace_accesskey ORDER BY id LIMIT 1"
        (key,) = self.rows("theirs", sql)
        self._sign_with(key["id"], key["secret"])


def take_over(it: Installation) -> int:
    """Let the sample's crowd work without a least time to read; how many answers 0.3 had recorded."""
    shutil.copy(ROOT / "samples" / "record.jsonl", it.stack.data_dir / "faults.jsonl")
    it.project = json.loads(it.stack.manage("shell", "-v", "0", "-c", TAKE_OVER).splitlines()[-1])
    return int(it.project["answers"])
