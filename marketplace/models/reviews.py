from django.db import models

from marketplace.models.hits import Hit


class ReviewLine(models.Model):
    """One line of a review policy's report, in the order in which the lines came to be.

    A result says something about a HIT or an assignment (`name` is its key, `value` what was found);
    an action was taken on one (`name` says which, `value` how it ended). Rows are only ever added.
    """

    class Level(models.TextChoices):
        ASSIGNMENT = "Assignment"
        HIT = "HIT"

    class Kind(models.TextChoices):
        RESULT = "result"
        ACTION = "action"

    class Status(models.TextChoices):
        SUCCEEDED = "Succeeded"
        FAILED = "Failed"

    hit = models.ForeignKey(Hit, models.CASCADE, related_name="review_lines")
    level = models.CharField(max_length=10, choices=Level.choices)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    # The results of one reading carry the id of its action "review".
    action_id = models.CharField(max_length=64)
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=10, choices=Level.choices)
    question_id = models.TextField(blank=True)
    name = models.CharField(max_length=40)
    value = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, blank=True)
    error_code = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["hit", "id"], name="review_line_of_hit")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of {self.subject_id}"
