"""Annotate from Python: projects, import, publish with a quote, wait, results, releases. See README.md."""

from annotate_client.api import Api
from annotate_client.client import Client
from annotate_client.errors import (
    AnnotateError,
    ApiError,
    BudgetRequestedError,
    ChecksumError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    ImportRefusedError,
    InvalidError,
    NotFoundError,
    NotSignedInError,
    ServerError,
    TableError,
    TooManyCallsError,
    UnexpectedAnswerError,
    WaitTimeoutError,
)
from annotate_client.models import (
    GivenItem,
    ModelAnswer,
    ModelAnswerError,
    ModelAnswersRefusedError,
    ModelClient,
    NotGivenAgainWarning,
)
from annotate_client.progress import Progress, print_progress
from annotate_client.projects import Project
from annotate_client.releases import Release
from annotate_client.stages import Quote, Stage

__all__ = [
    "AnnotateError",
    "Api",
    "ApiError",
    "BudgetRequestedError",
    "ChecksumError",
    "Client",
    "ConflictError",
    "ConnectionFailedError",
    "ForbiddenError",
    "GivenItem",
    "ImportRefusedError",
    "InvalidError",
    "ModelAnswer",
    "ModelAnswerError",
    "ModelAnswersRefusedError",
    "ModelClient",
    "NotFoundError",
    "NotGivenAgainWarning",
    "NotSignedInError",
    "Progress",
    "Project",
    "Quote",
    "Release",
    "ServerError",
    "Stage",
    "TableError",
    "TooManyCallsError",
    "UnexpectedAnswerError",
    "WaitTimeoutError",
    "print_progress",
]
