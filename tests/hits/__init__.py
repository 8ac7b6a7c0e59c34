"""Tests of the requester's side. Property tests have no deadline: on a busy machine it would fail by chance."""

from hypothesis import settings

settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
