"""QuestionForms: read, filled in, answered. For HITs and for qualification tests alike."""

from marketplace.rules.questions.form_answers import form_answers_xml, read_form
from marketplace.rules.questions.form_model import Answer, Form, FreeText, Overview, Question, Selection
from marketplace.rules.questions.form_parser import parse_form

__all__ = [
    "Answer",
    "Form",
    "FreeText",
    "Overview",
    "Question",
    "Selection",
    "form_answers_xml",
    "parse_form",
    "read_form",
]
