"""The tables of the requester's side. A row is the message between two verbs."""

from hits.accounts.models import ApiToken, LeadLimit, LeadSession, RecoveryCode, SignInTries
from hits.answers.models import Assignment, Draft, Label, TextEvidence, TextFigures, Verdict
from hits.core.models.actions import AccountAction, Action
from hits.core.models.blobs import Blob
from hits.core.models.jobs import Lease, WaitingJob
from hits.items.models import ChangeSet, Document, Item, ItemChange, MediaFile, Upload
from hits.judging.models import ComputationResult, ComputationRun
from hits.model_assist.models import (
    ModelAnnotator,
    ModelAnswer,
    ModelLease,
    RoutedItem,
    Routing,
    SuggestedAnswer,
    Suggestion,
)
from hits.notifications.models import LetterNotice, Notice, NoticeChoice, NoticeLetter
from hits.payments.models import (
    Account,
    Bonus,
    BonusFile,
    BonusOrder,
    BudgetExceededError,
    BudgetRequest,
    Compensation,
    LedgerCheck,
    LedgerEntry,
)
from hits.people.models import InboxEntry, MessageTemplate, Terms, WorkerMessage
from hits.pools.models import Pool, PoolLink, PoolUse
from hits.projects.models import Guest, Invitation, Membership, Project
from hits.publishing.models import Batch, ClosedHit, Extension, Hit, HitItem, Restoration
from hits.releases.models import EvaluatedSystem, Release, ReleasedItem, ReleaseFile
from hits.stages.models import RuleEdition, Stage, StageSummary
from hits.webhooks.models import Webhook, WebhookDelivery
from hits.workers.models import Block, Grant, Qualification, QualificationScore, QualificationTest, Worker, WorkerStat

__all__ = [
    "Account",
    "ApiToken",
    "AccountAction",
    "Action",
    "Assignment",
    "Batch",
    "Blob",
    "Block",
    "Bonus",
    "BonusFile",
    "BonusOrder",
    "BudgetExceededError",
    "BudgetRequest",
    "ChangeSet",
    "ClosedHit",
    "Compensation",
    "ComputationResult",
    "ComputationRun",
    "Document",
    "Draft",
    "EvaluatedSystem",
    "Extension",
    "Grant",
    "Guest",
    "Hit",
    "HitItem",
    "InboxEntry",
    "Invitation",
    "Item",
    "ItemChange",
    "Label",
    "LeadLimit",
    "LeadSession",
    "Lease",
    "LedgerCheck",
    "LedgerEntry",
    "LetterNotice",
    "MediaFile",
    "Membership",
    "ModelAnnotator",
    "ModelAnswer",
    "ModelLease",
    "MessageTemplate",
    "Notice",
    "NoticeChoice",
    "NoticeLetter",
    "Pool",
    "PoolLink",
    "PoolUse",
    "Project",
    "Qualification",
    "QualificationScore",
    "QualificationTest",
    "RecoveryCode",
    "Release",
    "ReleaseFile",
    "ReleasedItem",
    "Restoration",
    "RoutedItem",
    "Routing",
    "RuleEdition",
    "SignInTries",
    "Stage",
    "StageSummary",
    "TextEvidence",
    "TextFigures",
    "Terms",
    "SuggestedAnswer",
    "Suggestion",
    "Upload",
    "Verdict",
    "WaitingJob",
    "Webhook",
    "WebhookDelivery",
    "Worker",
    "WorkerMessage",
    "WorkerStat",
]
