"""The marketplace's site has the icon too: the same tests, with its settings."""

from tests.common.test_icon import (
    test_only_the_icon_is_kept_for_a_day,
    test_the_icon_is_at_the_address_where_browsers_look_for_it,
)

__all__ = ["test_only_the_icon_is_kept_for_a_day", "test_the_icon_is_at_the_address_where_browsers_look_for_it"]
