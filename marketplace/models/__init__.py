"""Tables of the marketplace. save() only saves; state changes live in marketplace.verbs."""

from marketplace.models.accounts import AccessKey, Requester, Worker
from marketplace.models.assignments import Assignment
from marketplace.models.hits import Hit, HitType, RequestToken
from marketplace.models.money import MoneyEntry
from marketplace.models.qualifications import Qualification, QualificationType

__all__ = [
    "AccessKey",
    "Assignment",
    "Hit",
    "HitType",
    "MoneyEntry",
    "Qualification",
    "QualificationType",
    "Requester",
    "RequestToken",
    "Worker",
]
