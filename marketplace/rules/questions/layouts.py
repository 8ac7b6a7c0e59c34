"""HIT layouts: pages with ${placeholders} that a requester keeps here, filled in with HITLayoutParameters."""

from collections.abc import Mapping

from common.html_pages import shown_faults
from common.html_templates import (
    NotFilledError,
    filled,
    placeholder_names,
    size_of,
    template_faults,
)
from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError


def check_layout(html: str, raw: bool = False) -> list[str]:
    """The names of the placeholders. Raises ParameterValidationError for a page that cannot be a layout."""
    size = size_of(html)
    if size > limits.QUESTION_BYTES:
        raise ParameterValidationError(f"The layout has {size:,} bytes; at most {limits.QUESTION_BYTES:,} are allowed.")
    found = template_faults(html, raw)
    if found:
        count = "1 error" if len(found) == 1 else f"{len(found):,} errors"
        raise ParameterValidationError(f"The layout has {count}, by line and column: {shown_faults(found)}")
    return placeholder_names(html)


def fill_layout(html: str, values: Mapping[str, str], raw: bool = False) -> str:
    """As `common.html_templates.filled`. Raises ParameterValidationError."""
    try:
        return filled(html, values, limits.FILLED_LAYOUT_BYTES, raw)
    except NotFilledError as error:
        missing = f"The layout needs HITLayoutParameters that are missing: {', '.join(error.missing)}."
        raise ParameterValidationError(missing if error.missing else str(error)) from error
