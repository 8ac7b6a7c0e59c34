"""Validating a text and its questions, by somebody who is trusted to change and delete.

Source: Ostermann et al. (2019), MCScript2.0, section 4.1: assistants replaced erroneous answers and deleted nonsensical
questions, duplicates and incoherent texts; a text left without an answerable question went, too.

Document: {"text", "scenario"?}. Item: {"hidden": [[start, end], ...], "questions": [{"id", "text", "type", "label",
"correct", "incorrect", "candidates": {"correct": [text, ...], "incorrect": [text, ...]}}]}; the candidates are what the
crowd wrote. Form fields of question q1 are named `q1_text`, `q1_correct`, `q1_correct_from` (the place of a candidate
in its list), `q1_swap`, `q1_delete` (a reason), `q1_duplicate_of` (a question's id) and `q1_words`; those of the text
`text_delete`, `text_words` and `confirm_empty`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import YES, remark
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.optional import Change, Line, Setting
from hits.text.questions.hiding import pieces
from hits.text.questions.question_rules import too_long
from hits.text.wording import _, capital, gettext_noop, ngettext
from hits.text.written import alike, kept

KEEP, EDIT, DELETE = "keep", "edit", "delete"
NONSENSICAL, DUPLICATE, INCOHERENT, OTHER = "nonsensical", "duplicate", "incoherent", "other"
# Questions of these kinds have no answers.
UNANSWERABLE = ("unfitting", "unknown")
ANSWERS = ("correct", "incorrect")
SLOTS = ("text", *ANSWERS)
NAMES = {
    "text": gettext_noop("question"),
    "correct": gettext_noop("correct answer"),
    "incorrect": gettext_noop("incorrect answer"),
}
REASONS = {
    NONSENSICAL: gettext_noop("it makes no sense"),
    DUPLICATE: gettext_noop("it asks the same as another one"),
    OTHER: gettext_noop("another reason"),
}
TEXT_REASONS = {INCOHERENT: gettext_noop("it is incoherent"), OTHER: gettext_noop("another reason")}
SOURCES = {
    "text": gettext_noop("the text says it"),
    "script": gettext_noop("everyday knowledge"),
    "text-or-script": gettext_noop("the text or everyday knowledge"),
    "unfitting": gettext_noop("does not fit"),
    "unknown": gettext_noop("cannot be known"),
}
TYPES = {"np": gettext_noop("about a thing"), "vp": gettext_noop("about time")}
NOTHING_LEFT = gettext_noop("This text has no question left, so it will be left out.")
CONFIRM = gettext_noop("Yes, leave this text out")
LONGEST_WORDS = 300
DEFAULTS: Json = {**COMMON, "longest_question": 300, "longest_answer": 150}

Fault = tuple[str, str]


@dataclass(frozen=True)
class Reviewed:
    """What the form says of one question. `texts` are those of its fields, by slot; `picked` names candidates."""

    number: int
    given: Json
    texts: Mapping[str, str]
    picked: Mapping[str, str]
    swap: bool
    reason: str
    duplicate_of: str
    words: str

    @property
    def id(self) -> str:
        return str(self.given["id"])

    @property
    def goes(self) -> bool:
        return bool(self.reason)

    def field(self, name: str) -> str:
        return f"{self.id}_{name}"

    def typed(self, slot: str) -> bool:
        """Whether something else stands in the field than the item holds."""
        return self.texts[slot] != kept(self.given[slot])

    def candidate(self, slot: str) -> str | None:
        """The text of the candidate that was picked; None without one, and where there is no such candidate."""
        known = dict(_candidates(self.given, slot))
        return known.get(self.picked[slot])

    def final(self) -> dict[str, str]:
        """The texts by slot after all that the form says; one that nobody touched is what the item holds."""
        found = {slot: self.texts[slot] if self.typed(slot) else self.given[slot] for slot in SLOTS}
        for slot in ANSWERS:
            found[slot] = self.candidate(slot) or found[slot]
        if self.swap:
            found["correct"], found["incorrect"] = found["incorrect"], found["correct"]
        return found


class ExpertReview:
    name = "expert_review"
    title = "Review a text and its questions"
    actions = ((EDIT, "Edited"), (DELETE, "Deleted"))
    deleting = (DELETE,)
    fields = (
        INSTRUCTIONS,
        Setting(
            "longest_question", "Longest question", "number", "20 to 1,000; longer ones are refused.", unit="characters"
        ),
        Setting(
            "longest_answer", "Longest answer", "number", "20 to 1,000; longer ones are refused.", unit="characters"
        ),
        *CLOSING,
    )
    example: tuple[Json, Json] = (
        {
            "scenario": "washing a dog",
            "text": "On Saturday our dog came home from the pond, and nobody wanted to sit next to him. My sister and I"
            " led him into the yard and filled the tub. I poured warm water over his back with a jug. Then my sister"
            " rubbed the soap in until he was white from his ears to his tail.\n\nHe shook himself twice, and both"
            " times we got wetter than he did. In the end we dried him with the old towels and gave him a biscuit.",
        },
        {
            "hidden": [[187, 266]],
            "questions": [
                {
                    "id": "q1",
                    "text": "What did they rub into his fur?",
                    "type": "np",
                    "label": "script",
                    "correct": "soap",
                    "incorrect": "the old towels",
                    "candidates": {"correct": ["soap", "shampoo"], "incorrect": ["the old towels", "a biscuit"]},
                },
                {
                    "id": "q2",
                    "text": "When did they dry the dog?",
                    "type": "vp",
                    "label": "text",
                    "correct": "before they filled the tub",
                    "incorrect": "at the end",
                    "candidates": {
                        "correct": ["before they filled the tub", "at the end"],
                        "incorrect": ["at the end", "while he was at the pond"],
                    },
                },
            ],
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """How long a question and an answer may be that is written here, in characters."""
        found = Given(given, DEFAULTS)
        for name in ("longest_question", "longest_answer"):
            found.whole(name, 20, 1000)
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"scenario", "passage", "hides", "questions", "reasons", "text_reasons", "instructions", ...}.

        The passage is a list of paragraphs, each a list of {"text", "hidden"}: whoever reviews may see all of it.
        """
        options = {**DEFAULTS, **settings}
        return {
            "scenario": document.get("scenario", ""),
            "passage": _passage(document["text"], item.get("hidden", [])),
            "hides": bool(item.get("hidden")),
            "instructions": paragraphs(options["instructions"]),
            "questions": [_shown(number, question, item, options) for number, question in _numbered(item)],
            "reasons": _listed(REASONS),
            "text_reasons": _listed(TEXT_REASONS),
            "longest_words": LONGEST_WORDS,
            "nothing_left": _(NOTHING_LEFT),
            "all_go": _all_go(item),
            "confirm": _(CONFIRM),
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `text` as {"action": keep or delete, "reason", "words"}, and one by the id of each question that
        changes: {"action": edit or delete, "reason", "words", "duplicate_of", "before", "after"}.

        `before` is {"text", "correct", "incorrect"} as the item holds them, `after` what they become, None where the
        question goes. Where the text goes, its questions go with it and are not looked at.
        """
        options = {**DEFAULTS, **settings}
        reviewed = [_read(number, question, fields) for number, question in _numbered(item)]
        reason, words = fields.get("text_delete", ""), kept(str(fields.get("text_words", "")))
        faults = _text_faults(reason, words)
        if not reason:
            faults += [fault for question in reviewed for fault in _faults(question, reviewed, options)]
        faults += _unconfirmed(item, reason, reviewed, fields)
        if faults:
            raise AnswerRefusedError([sentence for _, sentence in faults], [name for name, _ in faults])
        labels = [LabelValue("text", {"action": DELETE if reason else KEEP, "reason": reason, "words": words}, None)]
        if not reason:
            labels += [LabelValue(one.id, value, None) for one in reviewed if (value := _value(one))]
        return CheckedAnswer(tuple(labels), remark(fields))

    def longest_answer(self, document: Json, item: Json, settings: Json) -> int:
        """Of each question its texts and why it goes; choices are short, and so is why the text goes."""
        texts = settings["longest_question"] + len(ANSWERS) * settings["longest_answer"]
        return 2 * LONGEST_WORDS + len(item["questions"]) * (1000 + 2 * (texts + LONGEST_WORDS))

    def levels(self, settings: Json) -> dict[str, str]:
        """Whether the text stays; what is corrected in its questions is compared with nobody's."""
        return {"text": "nominal"}

    def comparable(self, unit: str, value: Any) -> Any:
        return value["action"]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: there is no reference for what an expert finds."""
        return {}

    def change(self, item: Json, unit: str, value: Any) -> Change | None:
        if not isinstance(value, dict) or value.get("action") not in dict(self.actions):
            return None
        if unit == "text":
            gone = {f"Question {number}": question["text"] for number, question in _numbered(item)}
            return Change("The text", DELETE, _why(TEXT_REASONS, value), gone, None)
        numbers = {question["id"]: number for number, question in _numbered(item)}
        reason = _why(REASONS, value)
        if other := numbers.get(value.get("duplicate_of")):
            reason = f"it asks the same as question {other}"
        return Change(
            f"Question {numbers[unit]}" if unit in numbers else unit,
            value["action"],
            reason,
            _named(value["before"]),
            _named(value["after"]) if value["after"] else None,
        )

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """What becomes of the text, and each question that changes."""
        if "text" in said and said["text"].get("action") == KEEP:
            kept_text = [Line("The text", "Kept", ("text",))]
            none = [] if len(said) > 1 else [Line("Its questions", "Nothing was changed")]
        else:
            kept_text, none = [], []
        changes = [(unit, self.change(item, unit, value)) for unit, value in said.items()]
        return [*kept_text, *(_told(unit, found) for unit, found in changes if found), *none]

    def left_out(self, item: Json, changes: Mapping[str, Any]) -> str:
        if changes.get("text", {}).get("action") == DELETE:
            return f"The text was deleted: {_why(TEXT_REASONS, changes['text'])}."
        gone = {unit for unit, value in changes.items() if value.get("action") == DELETE}
        return "" if _answerable(item, gone) else "No question is left."


# What the page shows


def _numbered(item: Json) -> Iterator[tuple[int, Json]]:
    return enumerate(item["questions"], start=1)


def _passage(text: str, hidden: Sequence[Sequence[int]]) -> list[list[Json]]:
    """The text by paragraphs, each in runs that workers saw or did not see."""
    found: list[list[Json]] = [[]]
    for piece in pieces(text, hidden):
        first, *others = piece.text.splitlines() or [""]
        found[-1].append({"text": first, "hidden": piece.hidden})
        found += [[{"text": line, "hidden": piece.hidden}] for line in others]
        if piece.text.endswith("\n"):
            found.append([])
    return [runs for runs in found if any(run["text"].strip() for run in runs)]


def _shown(number: int, question: Json, item: Json, options: Json) -> Json:
    ident = question["id"]
    return {
        "id": ident,
        "number": number,
        "answerable": question.get("label") not in UNANSWERABLE,
        "source": _said(SOURCES, question.get("label", "")),
        "about": _said(TYPES, question.get("type", "")),
        "slots": [_slot(question, slot, options) for slot in SLOTS],
        "others": [{"id": other["id"], "number": at} for at, other in _numbered(item) if other["id"] != ident],
    }


def _said(words: Mapping[str, str], name: str) -> str:
    return _(words[name]) if name in words else name


def _slot(question: Json, slot: str, options: Json) -> Json:
    return {
        "slot": slot,
        "name": f"{question['id']}_{slot}",
        "label": capital(_(NAMES[slot])),
        "was": kept(question[slot]),
        "longest": options["longest_question" if slot == "text" else "longest_answer"],
        "candidates": [
            {"id": place, "text": text} for place, text in _candidates(question, slot) if text != kept(question[slot])
        ],
    }


def _candidates(question: Json, slot: str) -> list[tuple[str, str]]:
    """(place in the list, text) of what the crowd wrote, each wording once."""
    given = question.get("candidates", {}).get(slot, []) if slot in ANSWERS else []
    places = {kept(text): str(place) for place, text in reversed(list(enumerate(given))) if kept(text)}
    return sorted(((place, text) for text, place in places.items()), key=lambda one: int(one[0]))


def _listed(reasons: Mapping[str, str]) -> list[Json]:
    return [{"id": ident, "text": _(text)} for ident, text in reasons.items()]


def _all_go(item: Json) -> str:
    return ngettext(
        "This text will be left out, and its %(count)s question with it.",
        "This text will be left out, and its %(count)s questions with it.",
        len(item["questions"]),
    )


# What the form says


def _read(number: int, question: Json, fields: Mapping[str, str]) -> Reviewed:
    said = {name: str(fields.get(f"{question['id']}_{name}", "")) for name in ("swap", "delete", "duplicate_of")}
    return Reviewed(
        number=number,
        given=question,
        texts={slot: kept(str(fields.get(f"{question['id']}_{slot}", ""))) for slot in SLOTS},
        picked={slot: str(fields.get(f"{question['id']}_{slot}_from", "")) for slot in ANSWERS},
        swap=said["swap"] == YES,
        reason=said["delete"],
        duplicate_of=said["duplicate_of"] if said["delete"] == DUPLICATE else "",
        words=kept(str(fields.get(f"{question['id']}_words", ""))) if said["delete"] == OTHER else "",
    )


def _value(question: Reviewed) -> Json | None:
    """The label of a question, None where it stays as it is."""
    before = {slot: question.given[slot] for slot in SLOTS}
    after = None if question.goes else question.final()
    if after == before:
        return None
    return {
        "action": DELETE if question.goes else EDIT,
        "reason": question.reason,
        "words": question.words,
        "duplicate_of": question.duplicate_of,
        "before": before,
        "after": after,
    }


# What speaks against it: (field, sentence)


def _text_faults(reason: str, words: str) -> list[Fault]:
    if reason and reason not in TEXT_REASONS:
        return [
            ("text_delete", _("The text is deleted for a reason that is not offered. Choose the reason once more."))
        ]
    if reason != OTHER:
        return []
    return _words_faults("text_words", words, _("the text"))


def _words_faults(field: str, words: str, what: str) -> list[Fault]:
    if not words:
        return [(field, _("Say in a few words why %(what)s is to be deleted.", what=what))]
    if len(words) > LONGEST_WORDS:
        return [(field, too_long(_("The reason why %(what)s goes", what=what), len(words), LONGEST_WORDS))]
    return []


def _faults(question: Reviewed, all_of_them: Sequence[Reviewed], options: Json) -> list[Fault]:
    if question.goes:
        return _deletion_faults(question, all_of_them)
    return [*_pick_faults(question), *_writing_faults(question, options)]


def _deletion_faults(question: Reviewed, all_of_them: Sequence[Reviewed]) -> list[Fault]:
    what = _("question %(number)s", number=question.number)
    if question.reason not in REASONS:
        sentence = _(
            "Question %(number)s is deleted for a reason that is not offered. Choose the reason once more.",
            number=question.number,
        )
        return [(question.field("delete"), sentence)]
    if question.reason == OTHER:
        return _words_faults(question.field("words"), question.words, what)
    if question.reason == DUPLICATE and (sentence := _no_duplicate(question, all_of_them)):
        return [(question.field("duplicate_of"), sentence)]
    return []


def _no_duplicate(question: Reviewed, all_of_them: Sequence[Reviewed]) -> str:
    """Why a question cannot be a duplicate of the one that it names; empty if it can."""
    known = {one.id: one for one in all_of_them}
    other = known.get(question.duplicate_of)
    if other is None:
        return _("Say which question of this text question %(number)s is a duplicate of.", number=question.number)
    if other is question:
        return _("Question %(number)s cannot be a duplicate of itself. Name the other one.", number=question.number)
    if question.id in _named_on(other, known):
        return _(
            "Questions %(number)s and %(other)s are called duplicates in a circle, so none of it would stay. Keep one"
            " of them.",
            number=question.number,
            other=other.number,
        )
    if other.goes:
        return _(
            "Question %(number)s names question %(other)s, which is deleted, too. Name one that stays.",
            number=question.number,
            other=other.number,
        )
    return ""


def _named_on(question: Reviewed, known: Mapping[str, Reviewed]) -> set[str]:
    """The ids that are reached from a question by going from duplicate to duplicate."""
    found: set[str] = set()
    following: Reviewed | None = question
    while following and following.duplicate_of not in ("", *found):
        found.add(following.duplicate_of)
        following = known.get(following.duplicate_of)
    return found


def _pick_faults(question: Reviewed) -> list[Fault]:
    faults = []
    for slot in ANSWERS:
        what, field = _place(slot, question.number), question.field(f"{slot}_from")
        candidate = question.candidate(slot)
        if question.picked[slot] and candidate is None:
            sentence = _("For %(what)s an answer was chosen that is not in the list. Choose once more.", what=what)
            faults.append((field, sentence))
        elif candidate is not None and question.typed(slot) and question.texts[slot] != candidate:
            sentence = _("For %(what)s you wrote one text and chose another. Keep one of the two.", what=what)
            faults.append((field, sentence))
        elif candidate is not None and question.swap:
            sentence = _("For %(what)s you chose another one and swapped, too. Do one of the two.", what=what)
            faults.append((field, sentence))
    return faults


def _place(slot: str, number: int) -> str:
    if slot == "text":
        return _("the text of question %(number)s", number=number)
    if slot == "correct":
        return _("the correct answer of question %(number)s", number=number)
    return _("the incorrect answer of question %(number)s", number=number)


def _writing_faults(question: Reviewed, options: Json) -> list[Fault]:
    faults = []
    final = question.final()
    for slot in SLOTS:
        what, text = capital(_place(slot, question.number)), final[slot]
        longest = options["longest_question" if slot == "text" else "longest_answer"]
        if not kept(text):
            sentence = _("%(place)s is empty. Write it, or delete the question.", place=what)
            faults.append((question.field(slot), sentence))
        elif len(text) > longest and text not in question.given.values():
            faults.append((question.field(slot), too_long(what, len(text), longest)))
    if kept(final["correct"]) and alike(final["correct"]) == alike(final["incorrect"]):
        sentence = _("The two answers of question %(number)s say the same. Change one of them.", number=question.number)
        faults.append((question.field("incorrect"), sentence))
    return faults


def _unconfirmed(item: Json, reason: str, reviewed: Sequence[Reviewed], fields: Mapping[str, str]) -> list[Fault]:
    gone = {question.id for question in reviewed if question.goes}
    if fields.get("confirm_empty", "") == YES or (not reason and _answerable(item, gone)):
        return []
    why = _all_go(item) if reason else _(NOTHING_LEFT)
    return [("confirm_empty", _("%(why)s Tick “%(box)s” if you mean that.", why=why, box=_(CONFIRM)))]


def _answerable(item: Json, gone: set[str]) -> bool:
    """Whether a question with answers is left without those."""
    return any(one["id"] not in gone and one.get("label") not in UNANSWERABLE for one in item["questions"])


# What a lead reads of a change


def _why(reasons: Mapping[str, str], value: Json) -> str:
    return value.get("words") or reasons.get(value.get("reason", ""), "")


def _told(unit: str, found: Change) -> Line:
    done, after = dict(ExpertReview.actions)[found.action], found.after
    question = found.before.get(NAMES["text"].capitalize())
    asked = f"{found.title}: {question}" if question else found.title
    if after is None:
        return Line(asked, f"{done}: {found.reason}" if found.reason else done, (unit,))
    changed = [f"{name}: “{text}” is now “{after[name]}”" for name, text in found.before.items() if after[name] != text]
    return Line(asked, f"{done}. " + "\n".join(changed), (unit,))


def _named(texts: Mapping[str, str]) -> dict[str, str]:
    return {NAMES[slot].capitalize(): texts[slot] for slot in SLOTS}


protocol = ExpertReview()
