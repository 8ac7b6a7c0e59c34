"""Where everything begins: a client for one address, signed in as one lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from annotate_client.api import URL, SignedIn, path
from annotate_client.projects import Project
from annotate_client.shapes import ProjectDetailShape, ProjectShape

#: Name in the environment.
TOKEN = "ANNOTATE_TOKEN"


class Client(SignedIn):
    """`with Client("http://localhost:8000", token) as client:` closes its connections at the end.

    Make the token on the page of your account. Its scope says what it may do: `read`; `write`, also change what costs
    nothing; `pay`, also start projects and publish. `api` calls routes for which there is no method here.
    """

    names = (URL, TOKEN)

    def projects(self, *, find: str | None = None, state: str | None = None) -> Iterator[Project]:
        """Those that you are a member of; `find` has words to look for, `state` is `draft` or `archived`."""
        rows: Iterator[ProjectShape] = self.api.pages("projects/", find=find, state=state)
        return (Project(self.api, row) for row in rows)

    def project(self, slug: str) -> Project:
        """The one that addresses call so. Raises NotFoundError."""
        return Project(self.api, cast(ProjectDetailShape, self.api.get(path("projects", slug))))

    def create_project(
        self,
        name: str,
        *,
        budget: Decimal | str,
        contact_email: str,
        recipe: str | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        recipe_file: str | None = None,
    ) -> Project:
        """Start a project from a recipe, or from the text of a recipe file; nothing is published and nothing is paid.

        `budget` in dollars is the most that it may ever cost. Raises InvalidError with what is wrong with each field.
        """
        given = {
            "name": name,
            "budget": str(budget),
            "contact_email": contact_email,
            "recipe": recipe,
            "options": options,
            "seed": seed,
            "recipe_file": recipe_file,
        }
        body = {field: value for field, value in given.items() if value is not None}
        return Project(self.api, cast(ProjectDetailShape, self.api.post("projects/", body)))
