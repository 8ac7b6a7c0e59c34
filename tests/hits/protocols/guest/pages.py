"""The questions of a stage, and a page on which a lead rewords one."""

from hits.protocols.pages import Correct, ItemPage, Page

from .wording import question_of


def listed(rows):
    return {"questions": [(row, question_of(row.data)) for row in rows]}


def shown(rows):
    question = question_of(rows.item.data)
    return {
        "question": rows.fields.get("question", question) if rows.fields else question,
        "faults": rows.refusal.reasons if rows.refusal else [],
        "before": {change.pk: question_of(change.before) for change in rows.changes},
    }


def rewording(item, fields):
    return Correct(fields.get("question", ""))


PAGES = [
    Page(
        "questions",
        "Questions",
        "yes_or_no/questions.html",
        listed,
        ItemPage("yes_or_no/question.html", shown, rewording),
    )
]
