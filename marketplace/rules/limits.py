"""Limits that the service model does not state; breaking one is a ParameterValidationError."""

from datetime import timedelta
from decimal import Decimal

from marketplace.rules.errors import ParameterValidationError

TITLE = 128
DESCRIPTION = 2000
KEYWORDS = 1000
ANNOTATION = 255
QUESTION_BYTES = 65_535
# Escaped data is longer than the data itself.
FILLED_LAYOUT_BYTES = 4 * QUESTION_BYTES
LAYOUT_NAME = 128
FEEDBACK = 1024
QUALIFICATION_NAME = 200
# The longest time of anything that has an end of its own.
YEAR_SECONDS = 31_536_000
TEST_SECONDS = (1, YEAR_SECONDS)
# Ten years: without an end, a date after the wait could not be reckoned.
RETRY_DELAY_SECONDS = (0, 10 * YEAR_SECONDS)
CONCERN = 2000
LIFETIME_SECONDS = (30, YEAR_SECONDS)
DURATION_SECONDS = (30, YEAR_SECONDS)
AUTO_APPROVAL_SECONDS = (0, 2_592_000)
DEFAULT_AUTO_APPROVAL_SECONDS = 2_592_000
MAX_ASSIGNMENTS = (1, 1_000_000_000)
LARGEST_REWARD = Decimal("1000000.00")
LARGEST_BONUS = Decimal("10000.00")
REQUIREMENTS = 10
INTEGER_VALUES = 15
LOCALE_VALUES = 30
OVERRIDE_REJECTION = timedelta(days=30)
REQUEST_TOKEN_LIFE = timedelta(hours=24)
AUTO_DISPOSAL = timedelta(days=120)
NOTIFICATION_LIFE = timedelta(hours=24)
DELIVERED_KEPT = timedelta(days=3)
GIVEN_UP_KEPT = timedelta(days=30)


def check_length(name: str, value: str, longest: int, *, blank: bool = True) -> str:
    if len(value) > longest:
        raise ParameterValidationError(f"{name} has {len(value)} characters; at most {longest} are allowed.")
    if not blank and not value.strip():
        raise ParameterValidationError(f"{name} must not be blank.")
    return value


def check_reward(text: str) -> Decimal:
    """The amount of a reward, in dollars and cents; `text` has passed the model's pattern."""
    reward = Decimal(text)
    if reward > LARGEST_REWARD:
        raise ParameterValidationError(f"Reward is out of range: at most {LARGEST_REWARD} is allowed.")
    return reward.quantize(Decimal("0.01"))


def check_bonus(text: str) -> Decimal:
    """The amount of a bonus, at least a cent; `text` has passed the model's pattern."""
    amount = Decimal(text)
    if not 0 < amount <= LARGEST_BONUS:
        raise ParameterValidationError(f"BonusAmount is {amount}, out of range: 0.01 to {LARGEST_BONUS} is allowed.")
    return amount.quantize(Decimal("0.01"))


def check_range(name: str, value: int, bounds: tuple[int, int]) -> int:
    if not bounds[0] <= value <= bounds[1]:
        raise ParameterValidationError(f"{name} is {value}, out of range: {bounds[0]} to {bounds[1]} is allowed.")
    return value
