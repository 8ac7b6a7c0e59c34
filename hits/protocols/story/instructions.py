"""What the page of a story says where a lead has not written instructions: text, so that a copy of it is known."""

from __future__ import annotations

from hits.text.wording import gettext_noop

AIM = gettext_noop(
    "Tell how something everyday is done, from a time when you did it yourself. Your story shows computers what"
    " people know without ever saying it."
)
STEPS = (
    gettext_noop("Read what the story is about."),
    gettext_noop("Think of a small child who has never seen it done, and tell the story to that child."),
    gettext_noop(
        "Begin where it begins and go on one step after another. Also tell the small steps that grown-ups leave out."
    ),
    gettext_noop(
        "Write whole sentences in simple words, as “I” did it. It may be a day that you remember or one that you make"
        " up."
    ),
    gettext_noop("Press “Submit answer”."),
)
RULES = (
    gettext_noop("Write it yourself. Every story is compared with the others, and copied ones are turned down."),
    gettext_noop("Tell each thing once. A story that goes over the same lines again is turned back."),
    gettext_noop("Leave out names, addresses and whatever else is private."),
)
EXAMPLE_ABOUT = "washing a woollen jumper"
EXAMPLE = (
    "Last Sunday I spilled cocoa all over my favourite blue jumper. You must never put wool into hot water, or it"
    " gets so small that only your teddy could wear it! So I filled the sink with water that felt just a bit warm. I"
    " poured in one cap of soap and stirred with my hand until there were bubbles. Then I laid the jumper in and"
    " pressed it down very softly, again and again, until the brown spot was gone. I let the dirty water out and"
    " rinsed the jumper with clean water. After that I rolled it up in a thick towel, like a pancake, and leaned on"
    " it. In the end I spread it flat on the rack, and on Tuesday it was dry and soft."
)
EXAMPLE_IS_GOOD = gettext_noop(
    "It says what was done first, next and last, and why. It also tells what everybody knows, such as that soap makes"
    " bubbles. A child could follow it."
)


def everything() -> str:
    """All of it as one text."""
    return "\n".join([AIM, *STEPS, *RULES, EXAMPLE, EXAMPLE_IS_GOOD])
