"""The smallest protocol that is one: a question that is answered with yes or no. Lives outside the package."""

from hits.protocols.base import AnswerRefusedError, CheckedAnswer, LabelValue, SettingsRefusedError
from hits.protocols.optional import Line

from .wording import LONGEST, reworded


class YesOrNo:
    name = "yes_or_no"
    title = "Answer yes or no"

    def settings(self, given):
        if given:
            raise SettingsRefusedError(["There is nothing to set."])
        return {}

    def page(self, document, item, settings, worker=""):
        return {"text": document["text"], "question": item["question"]}

    def check(self, document, item, settings, fields, worker=""):
        answer = fields.get("answer", "")
        if answer not in ("yes", "no"):
            raise AnswerRefusedError(["Choose yes or no."])
        return CheckedAnswer((LabelValue("answer", answer, answer == item["answer"]),))

    def in_lines(self, document, item, settings, said):
        return [Line(item["question"], said["answer"].capitalize(), ("answer",))] if "answer" in said else []

    def scores(self, answers):
        return {}

    def correct(self, document, item, wanted):
        found = reworded(item, wanted)
        if found is None:
            raise AnswerRefusedError([f"Write a question of at most {LONGEST} characters."], ["question"])
        return found

    def follow(self, item, before, after):
        return item

    def correction_note(self, first, now):
        return ""


protocol = YesOrNo()
