"""Who gets in: invitations, signing up, e-mail addresses, forgotten passwords, ends of sessions.

Letters are written in the language of the page that asks for them.

People recruited elsewhere come in through marketplace.verbs.panels.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from common.sign_in import new_account
from marketplace.models import Invitation, QualificationType, Worker
from marketplace.rules import limits
from marketplace.rules.addresses import email_key
from marketplace.rules.errors import AlreadyDone, DoesNotExist, EmailTaken, ParameterValidationError, RequestError
from marketplace.rules.sentences import Sentence
from marketplace.verbs import clock, letters, qualifications, workers

CONFIRMATION_LIFE = timedelta(days=3)
_CONFIRMATION = "marketplace.email"
_CANCELLATION = "marketplace.email.cancel"
_NOTE = 200


class _ResetTokens(PasswordResetTokenGenerator):
    """Django's tokens, by the clock of the marketplace. One use ends a token: the password is part of it."""

    def _now(self) -> datetime:
        return clock.now().astimezone(UTC).replace(tzinfo=None)


reset_tokens = _ResetTokens()


# Invitations


def invite(
    *,
    now: datetime,
    by: User | None = None,
    note: str = "",
    email: str = "",
    uses: int | None = 1,
    expires_at: datetime | None = None,
    qualification_type: QualificationType | None = None,
    value: int = 1,
) -> Invitation:
    """A new link to sign up by; raises ParameterValidationError for what cannot be meant."""
    limits.check_length("The note", note, _NOTE)
    if email:
        check_email(email)
    if uses is not None:
        limits.check_range("The number of uses", uses, (1, 1_000_000))
    if email and uses != 1:
        raise ParameterValidationError("An invitation for one address serves once.")
    if expires_at is not None and expires_at <= now:
        raise ParameterValidationError("The invitation would be over before it starts.")
    if qualification_type is not None and qualification_type.requester_id is None:
        raise ParameterValidationError("A system qualification is worked out by the marketplace; it cannot be given.")
    return Invitation.objects.create(
        note=note.strip(),
        email=email.strip(),
        uses=uses,
        expires_at=expires_at,
        qualification_type=qualification_type,
        qualification_value=value,
        created_at=now,
        created_by=by,
    )


def check_email(address: str) -> None:
    try:
        validate_email(address.strip())
    except ValidationError as error:
        raise ParameterValidationError("That is no e-mail address.") from error


def revoke_invitation(invitation: Invitation, now: datetime) -> None:
    """Nobody joins by it any more. Raises AlreadyDone."""
    if Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=now) != 1:
        raise AlreadyDone("The invitation was revoked before.")


def open_invitation(token: str, now: datetime) -> Invitation:
    """The invitation, as long as somebody may join by it; else RequestError says why not."""
    # What is not printable is not from here, and PostgreSQL would not even look for it.
    invitation = Invitation.objects.filter(token=token).first() if token.isprintable() else None
    if invitation is None:
        raise RequestError(Sentence("This link is no invitation. Look whether it was copied whole."))
    if invitation.revoked_at is not None:
        raise RequestError(Sentence("This invitation was withdrawn. Ask for a new one."))
    if invitation.expires_at is not None and invitation.expires_at <= now:
        raise RequestError(Sentence("This invitation has run out. Ask for a new one."))
    if invitation.uses is not None and invitation.used >= invitation.uses:
        raise RequestError(
            Sentence("This invitation was used already. If that was you, sign in; if not, ask for a new one.")
        )
    return invitation


def _use(invitation: Invitation, email: str, now: datetime) -> None:
    """Count one use; under its lock, so that the last use is given once."""
    if invitation.email and email_key(invitation.email) != email_key(email or "@"):
        raise RequestError(Sentence("This invitation is for another e-mail address."))
    left = Q(uses=None) | Q(used__lt=F("uses"))
    in_time = Q(expires_at=None) | Q(expires_at__gt=now)
    if Invitation.objects.filter(left, in_time, pk=invitation.pk, revoked_at=None).update(used=F("used") + 1) != 1:
        open_invitation(invitation.token, now)
        raise RequestError(Sentence("This invitation is not open any more."))


# Signing up


def sign_up(
    username: str,
    password: str,
    *,
    email: str,
    country: str,
    now: datetime,
    invitation: Invitation | None = None,
    joins: Callable[[Worker], None] | None = None,
) -> Worker:
    """A worker's account, one for an e-mail address. `joins` belongs to it: where it raises, there is no account.

    Raises EmailTaken, AlreadyDone when somebody just took the name, RequestError for the invitation, and what `joins`
    raises.
    """
    email = email.strip()
    user = new_account(username, password, email)
    try:
        with transaction.atomic():
            if invitation is not None:
                _use(invitation, email, now)
            user.save()
            worker = workers.create(user=user, country=country, email_key=email_key(email) if email else None)
            if invitation is not None and invitation.qualification_type is not None:
                _grant(worker, invitation, now)
            if joins is not None:
                joins(worker)
            if email and settings.MARKETPLACE_MAIL:
                ask_to_confirm(worker, user.email, now)
            return worker
    except IntegrityError:
        if email and Worker.objects.filter(email_key=email_key(email)).exists():
            raise EmailTaken from None
        raise AlreadyDone("This name is taken.") from None


def _grant(worker: Worker, invitation: Invitation, now: datetime) -> None:
    kind = invitation.qualification_type
    if kind is not None and kind.requester is not None and kind.status == QualificationType.Status.ACTIVE:
        type_id, value = kind.qualification_type_id, invitation.qualification_value
        # Its requester may have deleted it since the invitation was made: that keeps nobody from joining.
        with suppress(DoesNotExist):
            qualifications.grant(kind.requester, type_id, worker.worker_id, now, value)


def email_is_taken(email: str, but: Worker | None = None) -> bool:
    others = Worker.objects.filter(email_key=email_key(email))
    return (others.exclude(pk=but.pk) if but else others).exists()


# E-mail addresses


def ask_to_confirm(worker: Worker, email: str, now: datetime) -> None:
    """Write to the address, the account's own or its next one, with a link that confirms it.

    A link to a next address ends every such link from before.
    """
    if email != worker.user.email:
        worker.email_change_key = secrets.token_hex(16)
        worker.save(update_fields=["email_change_key"])
    address = confirmation_link(worker, email, now)
    text = _(
        "Somebody, most likely you, gave this address for the account “%(name)s”.\n\n"
        "If it was you, open this page within three days and press the button:\n%(address)s\n\n"
        "If not, do nothing: the address is not used then.\n"
    ) % {"name": worker.user.get_username(), "address": address}
    letters.write(worker, email, _("Confirm your e-mail address"), text, now)


def confirmation_link(worker: Worker, email: str, now: datetime) -> str:
    """The link holds the address and the one before it: a link from before another change is worth nothing."""
    expires_at = (now + CONFIRMATION_LIFE).isoformat()
    content = {
        "worker": worker.pk,
        "from": worker.user.email,
        "to": email,
        "until": expires_at,
        "key": worker.email_change_key,
    }
    token = signing.dumps(content, salt=_CONFIRMATION, compress=True)
    return settings.MARKETPLACE_PUBLIC_URL + reverse("site:confirm_email", args=[token])


def read_confirmation(token: str, now: datetime) -> tuple[Worker, str]:
    """The worker and the address that a link speaks of; raises RequestError when it is worth nothing any more."""
    try:
        content: dict[str, Any] = signing.loads(token, salt=_CONFIRMATION)
    except signing.BadSignature as error:
        raise RequestError(Sentence("This link is not whole. Copy all of it from the e-mail.")) from error
    if datetime.fromisoformat(content["until"]) <= now:
        raise RequestError(Sentence("This link has run out. Ask for a new one in your profile."))
    worker = Worker.objects.select_related("user").filter(pk=content["worker"], erased_at=None).first()
    if worker is None or worker.user.email not in (content["from"], content["to"]):
        raise RequestError(Sentence("The address was changed since this link was sent. Use the newest link."))
    if worker.user.email != content["to"] and worker.email_change_key != content.get("key"):
        raise RequestError(Sentence("This change of the address was cancelled. Ask for a new link in your profile."))
    return worker, content["to"]


def cancellation_link(worker: Worker) -> str:
    """Cancels the change of the address that the worker asked for last."""
    content = {"worker": worker.pk, "key": worker.email_change_key}
    path = reverse("site:cancel_email", args=[signing.dumps(content, salt=_CANCELLATION)])
    return settings.MARKETPLACE_PUBLIC_URL + path


def read_cancellation(token: str) -> Worker:
    """Whose change of the address a link cancels; raises RequestError when there is none to cancel any more."""
    try:
        content: dict[str, Any] = signing.loads(token, salt=_CANCELLATION)
    except signing.BadSignature as error:
        raise RequestError(Sentence("This link is not whole. Copy all of it from the e-mail.")) from error
    worker = Worker.objects.select_related("user").filter(pk=content["worker"], erased_at=None).first()
    if worker is None or worker.email_change_key != content["key"]:
        raise RequestError(
            Sentence("No change of the address is open: it was cancelled or made, or a newer one was asked for.")
        )
    return worker


def cancel_email_change(token: str) -> None:
    """The link that was sent to the next address is worth nothing from now on. Raises RequestError."""
    with transaction.atomic():
        workers.lock(read_cancellation(token).pk)
        end_email_change(read_cancellation(token).user)


def end_email_change(user: User) -> None:
    """Whoever asked for another address may have known what just changed, such as the password."""
    Worker.objects.filter(user=user).update(email_change_key="")


def confirm(token: str, now: datetime) -> Worker:
    """Make the address of the link the account's confirmed one. Doing it twice changes nothing more.

    Raises RequestError, or EmailTaken when another account got it meanwhile.
    """
    with transaction.atomic():
        workers.lock(read_confirmation(token, now)[0].pk)
        # Again: what it says may have changed while the lock was waited for.
        worker, email = read_confirmation(token, now)
        if worker.user.email != email or worker.email_confirmed_at is None:
            _set_email(worker, email, now)
    return worker


def change_email(worker: Worker, email: str, now: datetime) -> bool:
    """Whether the address is changed now; with mail configured it is once the new one is confirmed.

    The old address hears of it. Raises EmailTaken, or RequestError when the account was deleted meanwhile.
    """
    email = email.strip()
    if email and email_is_taken(email, but=worker):
        raise EmailTaken
    if not (email and settings.MARKETPLACE_MAIL):
        with transaction.atomic():
            workers.lock(worker.pk)
            _set_email(worker, email, None)
        return True
    with transaction.atomic():
        workers.lock(worker.pk)
        ask_to_confirm(worker, email, now)
        if worker.user.email and worker.email_confirmed_at and worker.user.email != email:
            text = _(
                "Somebody signed in as “%(name)s” asked to change the e-mail address of the account to another one.\n\n"
                "If it was not you, open this page and press the button, then change your password:\n%(address)s\n"
            ) % {"name": worker.user.get_username(), "address": cancellation_link(worker)}
            letters.write(worker, worker.user.email, _("Your e-mail address is about to change"), text, now)
    return False


def _set_email(worker: Worker, email: str, confirmed_at: datetime | None) -> None:
    """Write the address in all its places; part of the caller's transaction."""
    try:
        with transaction.atomic():
            worker.email_key = email_key(email) if email else None
            worker.email_confirmed_at = confirmed_at
            worker.email_change_key = ""
            worker.save(update_fields=["email_key", "email_confirmed_at", "email_change_key"])
    except IntegrityError:
        raise EmailTaken from None
    worker.user.email = email
    worker.user.save(update_fields=["email"])


# Passwords and sessions


def reset_link(worker: Worker, now: datetime) -> str:
    """A link that sets a new password, once, within a day. Raises RequestError for accounts without a password."""
    user = worker.user
    if worker.erased_at is not None or not user.is_active or not user.has_usable_password():
        raise RequestError(
            Sentence("This account has no password: it was deleted, or it is entered by a panel's link.")
        )
    number = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("site:reset_password", args=[number, reset_tokens.make_token(user)])
    return settings.MARKETPLACE_PUBLIC_URL + path


def send_reset_link(email: str, now: datetime) -> None:
    """Write to the account with this address, if there is one. The caller's answer is the same either way."""
    key = email_key(email)
    worker = Worker.objects.select_related("user").filter(email_key=key, erased_at=None).first()
    if worker is None or not worker.user.is_active or not worker.user.has_usable_password():
        return
    text = _(
        "Somebody, most likely you, asked for a new password for the account “%(name)s”.\n\n"
        "Choose it here, within a day:\n%(address)s\n\n"
        "If it was not you, do nothing: the password stays as it is.\n"
    ) % {"name": worker.user.get_username(), "address": reset_link(worker, now)}
    # To the address of the account, not to what was typed: they may differ in what the key leaves out.
    letters.write(worker, worker.user.email, _("Choose a new password"), text, now)


def keep_password(user: User) -> None:
    """Write the password that `user` was just given, and nothing else of it: an account that was deleted stays so.

    An open change of the e-mail address ends.
    """
    with transaction.atomic():
        User.objects.filter(pk=user.pk, is_active=True).update(password=user.password)
        end_email_change(user)


def end_sessions(user: User) -> int:
    """Sign the account out everywhere; how many sessions ended. Reads every session: rare enough.

    An open change of the e-mail address ends.
    """
    end_email_change(user)
    wanted = str(user.pk)
    mine = [s.pk for s in Session.objects.iterator() if s.get_decoded().get(SESSION_KEY) == wanted]
    return Session.objects.filter(pk__in=mine).delete()[0]
