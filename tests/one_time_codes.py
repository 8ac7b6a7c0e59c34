"""An app for one-time codes, of a lead or an operator."""

from __future__ import annotations

import time

from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice


def code(device: TOTPDevice, later: int = 0) -> str:
    """What the app shows now, or so many half minutes later. The one after this one is good already."""
    counter = TOTP(device.bin_key, device.step, device.t0, device.digits)
    counter.time = time.time() + later * device.step
    return f"{counter.token():06d}"
