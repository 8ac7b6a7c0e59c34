"""The default: a logistic regression on lengths, literal overlap and word patterns."""

from __future__ import annotations

from hits.text.filtering import adversarial_filtering

LABEL = "Logistic regression, which learns"
VERSION = "1"

make = adversarial_filtering.logistic
