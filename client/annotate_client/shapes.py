"""Answers of the API as types, made from its OpenAPI description by `python -m ops.client_shapes`.

Nothing here is written by hand. Amounts of money are texts with two decimals, moments are ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AgreementShape(TypedDict):
    # The key with which `computation-runs/` starts it.
    computation: str
    # The newest finished run; its results are the values.
    run: int | None
    # A run that waits or goes on.
    going_on: int | None
    finished_at: str | None
    # By which the values of the items were found.
    method: str
    # Answers that were there when the run began.
    answers: int
    # Answers that came since.
    since: int
    # Imported answers that were removed since.
    removed: int
    # Of each unit its level, its figures with 95 % intervals or why they are not defined, the confusion of its labels,
    # the items that divide the workers, the workers who differ most, and what each method of aggregation makes of it,
    # what it assumes, warnings where the answers contradict that, and which is recommended.
    units: list[dict[str, Any]]
    # Of each unit the labels that are keys of choices, with their texts; without those that differ from item to item.
    texts: dict[str, Any]


class LabelShape(TypedDict):
    item: int
    unit: str
    value: Any
    # Whether it matches gold; null where the item has none.
    correct: bool | None
    # It counts for nothing.
    void: bool


class CountsShape(TypedDict):
    # Characters that came one at a time.
    typed: int
    # Characters that were pasted or dropped.
    pasted: int
    pastes: int
    deletions: int
    # Of more than two seconds between two changes.
    pauses: int
    # Between changes, without the pauses.
    seconds: int


class SharedWordingShape(TypedDict):
    # Of another worker of the stage.
    answer: int
    # Of the passages of both texts, those that both have, 0 to 1: an estimate.
    share: float


class EvidenceSentenceShape(TypedDict):
    kind: str
    text: str
    # Unusual enough to be read first. It proves nothing.
    is_sign: bool


class TextEvidenceShape(TypedDict):
    """For people to look at: nothing is decided by it."""

    # Whether the page counted; `unreadable`: not what a page posts.
    noted: str
    # By form field.
    counts: dict[str, CountsShape]
    characters: int
    words: int
    # Share of its passages that stand in the item's own text; null without words.
    copied_from_item: float | None
    near_duplicate: SharedWordingShape | None
    # How many of the sentences are signs.
    signs: int
    # Signs first.
    sentences: list[EvidenceSentenceShape]
    # Answers of the stage that it is beside; 0 before the first comparison.
    beside: int


class ActionShape(TypedDict):
    """Who did what, when and from where."""

    # Such as `approved`, `rejected`, `rejection taken back`, `blocked`.
    verb: str
    # A lead, or the account a command ran in; empty: by itself.
    by: str
    # `itself`: nobody asked for it.
    origin: str
    at: str


class AnswerShape(TypedDict):
    id: int
    # The first of `items`.
    item: int
    # What its HIT asks about, in their order.
    items: list[int]
    # Null: imported.
    hit_id: NotRequired[str | None]
    # The upload of results that it came with; null: it was given here.
    imported_from: int | None
    assignment_id: str
    worker_id: str
    # Whether a block keeps its worker out: the answer counts for nothing, and approving pays it.
    worker_blocked: bool
    # `Submitted` Waiting for review; `Approved` Approved; `Rejected` Rejected; `Imported` Imported
    state: str
    # Decided, not yet confirmed by the marketplace.
    decision: str
    # The decision's call waits until then.
    not_before: str | None
    # How its state came about when it was not your decision.
    adopted: str
    feedback: str
    accepted_at: str
    submitted_at: str
    # When the marketplace approves it by itself.
    auto_approval_at: str | None
    # It did not pass the check, and is approved then unless you decide; null: not by time.
    approve_at: str | None
    # Null where a file of results does not say.
    seconds: float | None
    # Form field to value, as the worker posted it.
    answer: dict[str, Any]
    # Why it is not valid; empty for a valid answer.
    problem: str
    # Why it counts only when you approve it; empty: it counts without that.
    held: str
    # Your decision on an answer with `held`: whether it counts; null: none yet.
    admitted: bool | None
    # Of the project's terms, the version that its worker agreed to; null: none.
    terms_version: NotRequired[int | None]
    # The worker's report or comment.
    remark: str
    labels: list[LabelShape]
    # How its text came about; null where the stage does not collect it.
    text_evidence: TextEvidenceShape | None
    # What was decided about it from here, oldest first.
    actions: list[ActionShape]


class BatchShape(TypedDict):
    id: int
    # `first`, `again`, `expire`, `extend` or `delete`.
    kind: str
    # `publishing`, `paused`, `waiting` or `published`.
    state: str
    # The new expiry, when this closes or extends HITs.
    until: str | None
    # Calls to make.
    total: int
    done: int
    refused: int
    # What the marketplace said last, when it was not yes.
    message: str
    created_by: str | None
    created_at: str
    finished_at: str | None


class BudgetRequestShape(TypedDict):
    id: int
    # `waiting` Waits for an owner; `approved` Approved; `declined` Declined; `withdrawn` Withdrawn
    state: str
    asked_by: str | None
    # The project's budget that is asked for.
    budget: str
    # Of a batch.
    stage: NotRequired[str | None]
    # Of a batch.
    items: int | None
    # Of a batch: its price.
    total: str
    why: str
    # What the owner said about it.
    reason: str
    decided_by: str | None
    decided_at: str | None
    batch: int | None
    created_at: str


class VerdictShape(TypedDict):
    outcome: str
    # The rule's own word, such as valid.
    conclusion: str
    # A conclusion for each group, where the rule judges groups.
    parts: dict[str, Any]
    rule: str
    rule_version: int
    # Counts the rules that the stage has had.
    rule_edition: int
    detail: dict[str, Any]
    # By which models decided it, without an answer of people; null: people did.
    routing: int | None
    decided_at: str
    superseded_at: str | None


class ItemShape(TypedDict):
    id: int
    key: str
    document: str
    origin: str
    purpose: str
    # `new` To be published; `open` Open; `again` To be answered again; `kept` Kept; `dropped` Dropped; `void` Taken
    # back; `check` Check question
    state: str
    # The rule's own word, such as valid.
    conclusion: str
    # How far its answers differ, 0..1; null: nothing was answered twice.
    disagreement: float | None
    # 0..1, of the value that is least sure by the newest aggregation; null without any.
    confidence: float | None
    # A higher one is published first; null: none.
    priority: float | None
    # What the protocol asks.
    data: dict[str, Any]
    # The one that stands.
    verdict: VerdictShape | None


class LeasedItem(TypedDict):
    id: int
    key: str
    # What the page of a worker shows, as data.
    task: dict[str, Any]
    leased_until: str


class LeasedItems(TypedDict):
    # Items that this model has now and did not answer yet.
    leased: int
    # When the first of these is given again; null: none of them will be.
    next_free_at: str | None
    # Items that it was given 3 times and did not answer, also those that it has now.
    not_given_again: int
    # Empty: none is free at this moment.
    items: list[LeasedItem]


class OwnModel(TypedDict):
    id: int
    name: str
    version: str
    # Dollars; null: not stated.
    cost_per_answer: str | None


class AskedStage(TypedDict):
    # Items that this model has now and did not answer yet.
    leased: int
    # When the first of these is given again; null: none of them will be.
    next_free_at: str | None
    # Items that it was given 3 times and did not answer, also those that it has now.
    not_given_again: int
    key: str
    title: str
    protocol: str
    items: int
    # Answers of this model.
    answered: int


class ModelHome(TypedDict):
    project: str
    model: OwnModel
    stages: list[AskedStage]


class AccountShape(TypedDict):
    budget: str
    reserved: str
    paid: str
    left: str


class FiguresShape(TypedDict):
    """The figures that the pages show; `updated_at` says how old they are."""

    items: int
    # Imported, not published.
    waiting: int
    published: int
    # At the marketplace, no verdict yet.
    open: int
    # Of the open ones: need another answer.
    again: int
    # Items with at least one answer that counts.
    answered: int
    # Items whose standing verdict is that of models: neither published nor answered.
    decided_by_models: int
    kept: int
    # Of the kept ones: models decided them.
    kept_by_models: int
    dropped: int
    # Published or not; not among the items.
    check_questions: int
    answers: int
    to_review: int
    invalid: int
    rejected: int
    # Answers that count only when you approve them: not eligible, or too fast.
    held: int
    reported: int
    scored: int
    correct: int
    median_seconds: float | None
    next_auto_approval: str | None
    answers_an_hour: float
    # [[hour, answers], ...], oldest first.
    timeline: list[Any]
    # 20 counts of workers by accuracy, in steps of 5 %.
    histogram: list[int]
    # Such as em and f1, where the protocol measures them.
    scores: dict[str, Any]
    # [[outcome, the rule's own word, items], ...], most first.
    conclusions: list[Any]
    # Where a program makes the items: sums of their figures by name.
    made: dict[str, Any]
    # When they were counted.
    updated_at: str
    # Items or answers have changed since. Figures of a large stage are not counted at every change.
    is_old: bool


class StageShape(TypedDict):
    """With the value of each setting, by the column that holds it."""

    id: int
    # Names the stage in addresses.
    key: str
    # From 1; 0 for the stage without a crowd before the first.
    position: int
    protocol: str
    # People are asked; else a program makes the items and nothing is paid.
    crowd: bool
    # `draft` Not started; `live` Live; `paused` Paused
    state: str
    # `automatic` Approved once checked; `review` Approved by a lead
    approval: str
    # Workers have seen it: what `settings/` calls fixed cannot change any more.
    published: bool
    settings: dict[str, Any]
    rule: dict[str, Any]
    # Counts the rules that the stage has had.
    rule_edition: int
    auto_publish: bool
    auto_block: bool
    # Where a lead approves answers: only approved ones go on to later stages.
    advance_approved: bool
    hit_type_id: str
    figures: FiguresShape
    # Leads see it; files are named after it.
    title: str
    # The aggregation rule counts them.
    answers: int
    # 0: every item gets as many as that. Else an item gets one answer more, up to so many, until it has enough. The
    # budget holds the price of the most.
    most_answers: int | None
    # Such as: at least 2 agree on choice; or: confidence choice >= 0.9. A condition in the language of the vote rule.
    enough: str
    # A worker answers so many, one after another. Reward, description and times are of all together.
    items_per_hit: int
    # Of the answers that are bought. Above 0, rows with a gold answer are no data.
    gold_share: float
    # A worker is paid it for each HIT; the marketplace's fee comes on top.
    reward: str
    # The hourly wage is computed with it until times are measured. Empty: as the description says.
    expected_seconds: int | None
    # From accepting to submitting; the HIT goes to somebody else after it.
    assignment_seconds: int
    # It closes after that, answered or not. “Extend” keeps open HITs open for longer.
    lifetime_seconds: int
    # What nobody has approved or rejected by then is approved and paid. Where answers are approved once checked: what
    # did not pass, such as an empty answer. 0: all is paid on submission, unchecked.
    auto_approval_seconds: int
    # Of what did not pass, so many of one worker here. Further ones wait for you, and a notice says so; what nobody
    # decides about in 30 days the marketplace pays.
    unchecked_answers: int
    # Workers choose by it in the marketplace's list; each stage has its own.
    hit_title: str
    # Two sentences for the list: what is done, and how long it takes.
    hit_description: str
    # Commas between them.
    keywords: str
    # Who does not meet them cannot take a HIT.
    requirements: list[dict[str, Any]]
    # Workers who answer much worse than others are named on the stage's page, with the evidence.
    quality: dict[str, Any]
    # Item by item: who answered it, or what it was made from, in one of these.
    not_workers_of: list[str]
    # How many a draw brings unless another number is typed; 0: nothing is drawn.
    draws: int
    # Lower-case words joined by hyphens, such as part-one; empty: none. Of a test it has the percentage.
    grants: str
    # 0: the stage is no test. Else its items are those with a gold answer, and who has this share of a HIT's items
    # right passes, such as 0.75.
    screening_share: float
    # Shown first to each worker, with what was right. They are part of the HIT and its reward.
    practice_items: int
    # 0: who has failed cannot take it again.
    screening_retries: int
    # 1 to 720, counted from the failed one.
    screening_hours: int
    # What you write yourself, such as the question, is shown as you wrote it.
    page_language: str
    # The page counts what is typed and pasted, and texts are compared with those of other workers. The page tells
    # workers so. Nothing is decided by it.
    text_evidence: bool
    # What the page of an item with a suggestion shows. With half, the page “Suggestions” says how far workers follow
    # them.
    suggestions: str


class ProjectDetailShape(TypedDict):
    id: int
    # Names the project in addresses.
    slug: str
    name: str
    recipe: str
    contact_email: str
    # Words to find it by.
    tags: list[str]
    created_at: str
    # Since when nothing in it changes; null: it is in use.
    archived_at: str | None
    # Yours in this project.
    role: str
    account: AccountShape
    seed: int
    options: dict[str, Any]
    owners: list[str]
    stages: list[StageShape]
    # Why its recipe or a stage's task cannot be used now.
    faults: list[str]


class ProjectShape(TypedDict):
    id: int
    # Names the project in addresses.
    slug: str
    name: str
    recipe: str
    contact_email: str
    # Words to find it by.
    tags: list[str]
    created_at: str
    # Since when nothing in it changes; null: it is in use.
    archived_at: str | None
    # Yours in this project.
    role: str
    account: AccountShape


class QuoteShape(TypedDict):
    """Send `items`, `total` and `confirmation` to publish/ to confirm it."""

    items: int
    # HITs that ask about them.
    hits: int
    # Each about all items of its HIT.
    answers: int
    # Mixed in beside the items; among `hits` and `total`.
    check_questions: int
    check_answers: int
    check_cost: str
    reward: str
    fee: str
    # Reward and fee of one answer.
    unit_cost: str
    # The most that it can cost, which is reserved.
    total: str
    # Less than `total` where items get further answers until they have enough.
    least: str
    # By the items that are decided, or by an assumed accuracy of 80 %.
    expected: str
    # Null where nobody knows how long an answer takes.
    hourly_wage: str | None
    # Reckoned with the expected time: too few answers are measured.
    wage_assumed: bool
    median_seconds: float | None
    budget_left: str
    # Of the marketplace account; null when it does not answer.
    balance: str | None
    # Of the balance: reserved by this installation for calls on their way.
    planned: str
    closes_at: str
    # Sentences that stop it.
    problems: list[str]
    # Sentences that want a second look.
    warnings: list[str]
    # A fresh key; any of your own does as well.
    confirmation: str


class SystemScoreShape(TypedDict):
    measure: str
    # Such as `type of question`; empty: over all items.
    division: str
    part: str
    # Items.
    n: int
    # 0 to 1.
    value: float
    # Of the 95 % interval of a bootstrap over items.
    low: float
    high: float


class SystemShape(TypedDict):
    name: str
    kind: str
    file: str
    split: str
    # Of a baseline: where it comes from.
    method: str
    seed: int | None
    scores: list[SystemScoreShape]
    created_at: str


class ReleaseFileShape(TypedDict):
    name: str
    bytes: int
    sha256: str
    # It has the answers of test and is no part of the folder.
    is_key: bool
    url: str


class ReleaseDetailShape(TypedDict):
    id: int
    number: int
    # SHA-256 of the manifest file's bytes.
    digest: str
    created_by: str | None
    created_at: str
    # null: it stands.
    withdrawn_at: str | None
    withdrawn_reason: str
    # The number of the release to use instead.
    successor: NotRequired[int | None]
    manifest: dict[str, Any]
    # Which were evaluated on it.
    systems: list[SystemShape]
    files: list[ReleaseFileShape]


class ReleaseShape(TypedDict):
    id: int
    number: int
    # SHA-256 of the manifest file's bytes.
    digest: str
    created_by: str | None
    created_at: str
    # null: it stands.
    withdrawn_at: str | None
    withdrawn_reason: str
    # The number of the release to use instead.
    successor: NotRequired[int | None]


class RunShape(TypedDict):
    id: int
    computation: str
    params: dict[str, Any]
    seed: int
    # `queued` Waiting; `running` Running; `done` Done; `stopped` Stopped; `failed` Failed
    state: str
    done: int
    total: int
    # Items that it concluded something about.
    items: int
    error: str
    created_by: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None


class AnswerField(TypedDict):
    name: str
    # `one`, `several`, `number`, `text` or `line`.
    kind: str
    options: list[str]
    required: bool


class LentItem(TypedDict):
    id: int
    key: str
    # What the page of a worker shows, as data.
    task: dict[str, Any]


class StageForModel(TypedDict):
    key: str
    title: str
    protocol: str
    # What an answer says, with how its values are compared.
    units: dict[str, str]
    # Those that the page of a worker posts.
    fields: list[AnswerField]
    example: LentItem | None


class StoredAnswers(TypedDict):
    new: int
    # The model gave these before, with the same content.
    unchanged: int


class FaultShape(TypedDict):
    line: int | None
    place: str
    message: str


class UploadDetailShape(TypedDict):
    id: int
    # What the file holds: `items`, `media` or `results`.
    kind: str
    name: str
    origin: str
    # `mapping`, `queued`, `reading`, `storing`, `done`, `refused`, `stopped`, `failed` or `removed`.
    state: str
    # Why it failed; empty in every other state.
    error: str
    # The column by field, as it was confirmed; null: by the names of the columns.
    mapping: dict[str, Any] | None
    bytes: int
    # Documents, or files of media, read so far.
    done: int
    total: int
    # Items, files of media, or answers, that came in.
    items: int
    # What of the file was not read, and why.
    notes: list[str]
    fault_count: int
    created_by: str | None
    created_at: str
    finished_at: str | None
    # 1,000 at most, of every kind. With any, nothing was imported.
    faults: list[FaultShape]
