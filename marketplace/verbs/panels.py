"""People recruited elsewhere: they come by a panel's link, work under an account of ours, and go back.

The outside id of a link can be guessed, so a link signs in only to accounts that it made itself and
that have no password; a panel with a secret asks for a signature besides.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils.crypto import constant_time_compare, salted_hmac

from marketplace.models import Assignment, HitType, Panel, PanelEntry, Worker
from marketplace.rules import limits
from marketplace.rules import panels as rules
from marketplace.rules.errors import AlreadyDone, NotAdmitted, ParameterValidationError, RequestError
from marketplace.rules.sentences import Sentence
from marketplace.verbs import workers

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")
_OUTSIDE_ID = 200
_TERMS = 20_000
_ADDRESS = 1000
# Of those that are known; whoever may write links without a signature could write any number.
_MOST_VISITS = 200


def make_panel(
    *,
    name: str,
    slug: str,
    terms: str,
    completion_url: str,
    now: datetime,
    screened_out_url: str = "",
    parameter: str = "PARTICIPANT_ID",
    visit_parameter: str = "SESSION_ID",
    hit_type: HitType | None = None,
    finish_after: int | None = None,
    counts_approved: bool = True,
    country: str = "",
    signed: bool = False,
) -> Panel:
    """A new panel; with `signed` its links need a signature under a secret drawn here.

    Raises ParameterValidationError for the first thing that is wrong.
    """
    limits.check_length("The name", name, 100, blank=False)
    limits.check_length("The terms", terms, _TERMS, blank=False)
    if not _SLUG.fullmatch(slug):
        raise ParameterValidationError("The link's own word takes small letters, digits and hyphens.")
    if visit_parameter and rules.check_parameter(visit_parameter) == parameter:
        raise ParameterValidationError("The parameter of the visit cannot be that of the outside ID.")
    if finish_after is not None:
        limits.check_range("The number of HITs", finish_after, (1, 1_000_000))
    panel = Panel(
        name=name.strip(),
        slug=slug,
        terms=terms.strip(),
        parameter=rules.check_parameter(parameter),
        visit_parameter=visit_parameter,
        completion_url=_return_address("The completion address", completion_url),
        screened_out_url=_return_address("The screened-out address", screened_out_url) if screened_out_url else "",
        hit_type=hit_type,
        finish_after=finish_after,
        counts_approved=counts_approved,
        country=country,
        secret=secrets.token_urlsafe(32) if signed else "",
        created_at=now,
    )
    try:
        with transaction.atomic():
            panel.save(force_insert=True)
    except IntegrityError:
        raise ParameterValidationError(f"There is a panel with the link /panel/{slug}/ already.") from None
    return panel


def _return_address(what: str, address: str) -> str:
    limits.check_length(what, address, _ADDRESS)
    return rules.check_return_address(what, address)


def close_panel(panel: Panel, now: datetime) -> None:
    """Nobody new comes in; who has an account comes back to it. Raises AlreadyDone."""
    if Panel.objects.filter(pk=panel.pk, closed_at=None).update(closed_at=now) != 1:
        raise AlreadyDone("The panel was closed before.")


def reopen_panel(panel: Panel) -> None:
    if Panel.objects.filter(pk=panel.pk, closed_at__isnull=False).update(closed_at=None) != 1:
        raise AlreadyDone("The panel is open.")


def check_link(panel: Panel, outside_id: str, parameters: Mapping[str, str], signature: str) -> str:
    """The id of the visit that the link may begin; empty where it carries none, or the signature leaves it out.

    Raises RequestError for a link without an outside id, and for a wrong signature where one is asked for.
    """
    if not outside_id or len(outside_id) > _OUTSIDE_ID or not outside_id.isprintable():
        raise RequestError(
            Sentence(
                "The link carries no %(parameter)s. Go back to %(panel)s and use its link again.",
                parameter=panel.parameter,
                panel=panel.name,
            )
        )
    visit = parameters.get(panel.visit_parameter, "")
    if not panel.secret or rules.is_signed(panel.secret, outside_id, signature, visit):
        return visit
    # Panels that signed the outside id alone before go on working.
    if rules.is_signed(panel.secret, outside_id, signature):
        return ""
    raise RequestError(
        Sentence("The link is not signed by %(panel)s. Go back there and use its link again.", panel=panel.name)
    )


def find_entry(panel: Panel, outside_id: str) -> PanelEntry | None:
    entries = PanelEntry.objects.select_related("panel__hit_type", "worker__user")
    return entries.filter(panel=panel, outside_id=outside_id).first()


def enter(
    panel: Panel,
    outside_id: str,
    parameters: Mapping[str, str],
    now: datetime,
    visit: str = "",
    browser: str = "",
) -> PanelEntry:
    """The person's entry, made at the first visit; parameters of a later visit replace those from before.

    A visit begins with the id of one that never came before (`visit`, from `check_link`) or, for a person whose links
    carry none, after the person has finished. What the panel asks for is counted from there. The link of an earlier
    visit changes nothing of the present one.

    `browser` is the secret of the browser's cookie: where links are not signed, an id is let in from the first browser
    alone, until `release_browser`, for whoever knows an id could write it into a link.

    Raises RequestError when a new person comes to a closed panel, somebody's account is no panel account any more, or
    the id came from another browser before.
    """
    entry = find_entry(panel, outside_id) or _join(panel, outside_id, now)
    user = entry.worker.user
    if user.has_usable_password() or not user.is_active or user.is_staff:
        raise RequestError(
            Sentence("This account is not entered by a link any more. Sign in with its name and password.")
        )
    with transaction.atomic():
        # Under the worker's lock: an answer that arrives now counts for one of the visits.
        entry.worker.submitted_count = (
            Worker.objects.select_for_update(no_key=True).get(pk=entry.worker_id).submitted_count
        )
        entry.refresh_from_db(
            fields=["visits", "parameters", "came_at", "submitted_before", "finished_at", "browser_key"]
        )
        if not panel.secret:
            _bind(entry, browser)
        known = _known_visits(entry)
        begins = visit not in known if visit else not entry.visits and _has_finished(entry)
        if begins:
            entry.came_at, entry.submitted_before = now, entry.worker.submitted_count
        if begins or not entry.visits or visit == entry.visits[-1]:
            entry.parameters = dict(parameters)
        if visit and visit not in entry.visits:
            entry.visits = [*(one for one in known if one != visit), visit][-_MOST_VISITS:]
        entry.last_seen_at = now
        entry.save(update_fields=["visits", "came_at", "submitted_before", "parameters", "last_seen_at", "browser_key"])
    return entry


def _bind(entry: PanelEntry, browser: str) -> None:
    key = salted_hmac("panel browser", f"{entry.panel_id}\n{browser}", algorithm="sha256").hexdigest()
    if entry.browser_key and not constant_time_compare(entry.browser_key, key):
        raise RequestError(
            Sentence(
                "This ID came from another browser before, and only that one is let in. Go on there. If you cannot, "
                "ask those who invited you to let another browser in."
            )
        )
    entry.browser_key = key


def release_browser(panel: Panel, outside_id: str) -> bool:
    """Let the next browser in that comes with this id; whether there is such a person."""
    return PanelEntry.objects.filter(panel=panel, outside_id=outside_id).update(browser_key="") == 1


def _known_visits(entry: PanelEntry) -> list[str]:
    """An entry from before visits were kept has the id of its last one among the parameters."""
    last = entry.parameters.get(entry.panel.visit_parameter, "")
    return entry.visits or ([last] if last else [])


def _has_finished(entry: PanelEntry) -> bool:
    """Whether the person has finished the visit under way."""
    return entry.finished_at is not None and entry.finished_at >= (entry.came_at or entry.consented_at)


def _join(panel: Panel, outside_id: str, now: datetime) -> PanelEntry:
    if panel.closed_at is not None:
        raise RequestError(f"{panel.name} takes nobody new.")
    try:
        with transaction.atomic():
            # Without a password there is no other way in than the link.
            user = get_user_model().objects.create_user(username=f"panel-{secrets.token_hex(6)}", password=None)
            worker = workers.create(user=user, country=panel.country)
            return PanelEntry.objects.create(
                panel=panel, worker=worker, outside_id=outside_id, consented_at=now, last_seen_at=now
            )
    except IntegrityError:
        # The same person's other click was faster.
        entry = find_entry(panel, outside_id)
        if entry is None:
            raise
        return entry


def submitted(entry: PanelEntry) -> int:
    """How many HITs the person has submitted since the visit began."""
    return max(0, entry.worker.submitted_count - entry.submitted_before)


@dataclass(frozen=True)
class Progress:
    """HITs since the visit began: those that count for the completion, and those whose requester has not decided."""

    counted: int
    waiting: int = 0


def count(entry: PanelEntry) -> Progress:
    done = submitted(entry)
    if not entry.panel.counts_approved or not done:
        return Progress(done)
    since = entry.came_at or entry.consented_at
    of_visit = Assignment.objects.filter(worker=entry.worker_id, submitted_at__gte=since)
    found = of_visit.aggregate(
        waiting=Count("pk", filter=Q(status=Assignment.Status.SUBMITTED)),
        rejected=Count("pk", filter=Q(status=Assignment.Status.REJECTED)),
    )
    return Progress(max(0, done - found["waiting"] - found["rejected"]), found["waiting"])


def is_done(entry: PanelEntry) -> bool:
    """Whether as many HITs count as the panel asked for."""
    return entry.panel.finish_after is not None and count(entry).counted >= entry.panel.finish_after


def is_being_checked(entry: PanelEntry) -> bool:
    """Whether the person has submitted enough, and all that is missing is the decision of requesters."""
    now, wanted = count(entry), entry.panel.finish_after
    return wanted is not None and now.counted < wanted <= now.counted + now.waiting


def check_wanted(worker: Worker, in_hand: int) -> None:
    """Raises NotAdmitted for a worker, locked, whose panel asked for no more than was submitted and is in hand.

    What was rejected where approved HITs count is to be made up for.
    """
    entry: PanelEntry | None = getattr(worker, "panel_entry", None)
    if entry is None or entry.panel.finish_after is None:
        return
    entry.worker = worker
    now = count(entry)
    if now.counted + now.waiting + in_hand >= entry.panel.finish_after:
        name, most = entry.panel.name, entry.panel.finish_after
        raise NotAdmitted(
            "panel done",
            f"{name} asked for {most} HITs, and you have submitted or hold as many.",
            panel=name,
            most=most,
            in_hand=in_hand,
        )


def stops_early(entry: PanelEntry) -> bool:
    """Whether the person would leave before all that the panel asked for: that earns no completion."""
    return entry.panel.finish_after is not None and not is_done(entry)


def finish(entry: PanelEntry, now: datetime) -> str:
    """The address to go to: of completion, written down; for who stops early, the screened-out one, if any. Nowhere
    while the person waits for decisions: the panel's link leads back.
    """
    if is_being_checked(entry):
        return ""
    if stops_early(entry):
        return screened_out_address(entry.panel, entry.outside_id, entry.parameters)
    if not _has_finished(entry):
        PanelEntry.objects.filter(pk=entry.pk).update(finished_at=now)
    return return_address(entry)


def return_address(entry: PanelEntry) -> str:
    return rules.fill(entry.panel.completion_url, {**entry.parameters, "outside_id": entry.outside_id})


def screened_out_address(panel: Panel, outside_id: str, parameters: Mapping[str, str]) -> str:
    """Where to send who may not take part; empty when the panel names no such place."""
    return rules.fill(panel.screened_out_url, {**parameters, "outside_id": outside_id})
