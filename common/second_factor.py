"""A second factor of signing in: codes of an app (TOTP, RFC 6238), and recovery codes for whoever has lost it.

Security behavior: a code of the app is good once, half a minute before and after its time too. A recovery code is 80
random bits, of which the digest alone is kept, and is good once. Whoever calls counts the tries. The key of the app is
kept as it is, for codes are computed with it. Between password and code the session holds who gave the password,
for ten minutes, and signs nobody in.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import time
from typing import Any

import segno
from django.conf import settings
from django.db import models, transaction
from django.http import HttpRequest
from django_otp.plugins.otp_totp.models import TOTPDevice

CODES = 10
APP, RECOVERY = "app", "recovery"
# How long the code may come after the password, in seconds.
CODE_SECONDS = 600
_PASSWORD_GIVEN = "signing_in"
_OF_THE_APP = re.compile(r"[0-9]{6}")
_OF_RECOVERY = re.compile(r"[a-z2-7]{16}")


class RecoveryCodeRow(models.Model):
    """A recovery code that has not been used."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.user_id} {self.digest[:8]}"


Codes = models.QuerySet[Any]


def device_of(user: Any) -> TOTPDevice | None:
    """The app that this person signs in with; None: there is no second factor."""
    found: TOTPDevice | None = TOTPDevice.objects.filter(user=user, confirmed=True).order_by("pk").first()
    return found


def waiting_device(user: Any) -> TOTPDevice | None:
    """One that is being set up: its first code has not been entered."""
    found: TOTPDevice | None = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return found


def begin(user: Any) -> bool:
    """Draw a key, in the place of one that was never confirmed. False where there is a second factor already."""
    with transaction.atomic():
        if device_of(user):
            return False
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        TOTPDevice.objects.create(user=user, name="app", confirmed=False)
    return True


def confirm(user: Any, code: str, codes: Codes) -> list[str]:
    """Turn it on with the first code of the app; its recovery codes, none where the code is wrong.

    `codes` are the rows of all recovery codes.
    """
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=False).order_by("pk").first()
        if device is None or device_of(user) or not _fits(device, code):
            return []
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        return new_codes(user, codes)


def accept(user: Any, code: str, codes: Codes) -> str:
    """APP or RECOVERY, where the code is good; it is used up then. Otherwise an empty word."""
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=True).order_by("pk").first()
        if device is None:
            return ""
        if _fits(device, code):
            return APP
        plain = re.sub(r"[\s-]", "", code).lower()
        if _OF_RECOVERY.fullmatch(plain) and codes.filter(user=user, digest=_digest(plain)).delete()[0]:
            return RECOVERY
    return ""


def new_codes(user: Any, codes: Codes) -> list[str]:
    """Ten recovery codes in the place of those before. They are nowhere kept."""
    drawn = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(CODES)]
    with transaction.atomic():
        codes.filter(user=user).delete()
        codes.bulk_create(codes.model(user=user, digest=_digest(one)) for one in drawn)
    return ["-".join(one[i : i + 4] for i in range(0, 16, 4)) for one in drawn]


def remove(user: Any, codes: Codes) -> bool:
    """Whether there was a second factor. One that was never confirmed goes too."""
    with transaction.atomic():
        was_on = device_of(user) is not None
        TOTPDevice.objects.filter(user=user).delete()
        codes.filter(user=user).delete()
    return was_on


def password_given(request: HttpRequest, user: Any) -> None:
    """This visitor gave the right password of an account with a second factor, and is not signed in yet."""
    given = {"user": user.pk, "hash": user.get_session_auth_hash(), "at": time.time()}
    request.session[_PASSWORD_GIVEN] = given


def whose_password(request: HttpRequest, accounts: models.QuerySet[Any]) -> Any:
    """The one of these accounts whose password was given here a moment ago, and whose code is awaited; or None."""
    given = request.session.get(_PASSWORD_GIVEN)
    if given is None or time.time() - given["at"] > CODE_SECONDS:
        return None
    user = accounts.filter(pk=given["user"], is_active=True).first()
    # Another password since then: the one that was given counts no more.
    same = user is not None and user.get_session_auth_hash() == given["hash"]
    return user if same and device_of(user) else None


def code_given(request: HttpRequest) -> None:
    """What the session holds of the password is not needed any more."""
    request.session.pop(_PASSWORD_GIVEN, None)


def key_text(device: TOTPDevice) -> str:
    """The key as people type it into an app, in groups of four."""
    key = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(key[i : i + 4] for i in range(0, len(key), 4))


def picture(device: TOTPDevice) -> str:
    """The QR code of the key as SVG, dark on light in every theme: apps read no other."""
    drawn: str = segno.make(device.config_url, error="m").svg_inline(
        scale=4, border=4, dark="#000", light="#fff", omitsize=True, svgclass="qr", lineclass=None
    )
    return drawn


def _fits(device: TOTPDevice, code: str) -> bool:
    plain = re.sub(r"\s", "", code)
    return bool(_OF_THE_APP.fullmatch(plain) and device.verify_token(plain))


def _digest(code: str) -> str:
    """80 random bits cannot be searched: they need no salt and no slow function."""
    return hashlib.sha256(code.encode()).hexdigest()
