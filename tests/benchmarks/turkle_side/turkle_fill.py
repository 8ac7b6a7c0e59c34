"""Fills Turkle, in its own environment: `python turkle_fill.py begin`, `tasks NUMBER`, `results ROWS`. Prints JSON.

Rows are made as its own verbs leave them, many at once.
"""

import json
import sys
from datetime import timedelta

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from turkle.models import Batch, Project, Task, TaskAssignment  # noqa: E402

EACH, WORKERS, PASSWORD = 3, 200, "of-a-benchmark"
ASKS = """<p>${text}</p><img src="${image}"><label>Which? <select name="mask"><option>correctly</option>
<option>incorrectly</option></select></label><input type="number" name="sure"><textarea name="why"></textarea>"""
CHOICE = """<p>${text}</p><p>${question}</p>""" + "".join(
    f'<label><input type="radio" name="choice" value="{n}">${{choice{n}}}</label>' for n in range(1, 5)
)


def begin():
    users = get_user_model().objects
    lead = users.create_superuser("lead", password=PASSWORD)
    users.create_user("worker", password=PASSWORD)
    users.bulk_create(get_user_model()(username=f"w{number}") for number in range(WORKERS))
    choice = project("Choice", CHOICE)
    return {"token": Token.objects.create(user=lead).key, "project": choice.pk, "password": PASSWORD}


def project(name, template):
    made = Project(name=name, html_template=template, filename="task.html")
    made.process_template()
    made.save()
    return made


def batch(name, tasks, each):
    made = Batch.objects.create(
        name=name, project=project(name, ASKS), filename="rows.csv", assignments_per_task=each, published=True
    )
    rows = (
        {
            "text": " ".join(f"word{key * 7 + at}" for at in range(40)),
            "image": f"https://images.example.org/{key}.png",
            "known": "Correctly",
        }
        for key in range(tasks)
    )
    Task.objects.bulk_create((Task(batch=made, input_csv_fields=row) for row in rows), batch_size=2000)
    return made


def tasks(number):
    made = batch(f"{number} tasks", int(number), 1)
    settle()
    return {"batch": made.pk}


def results(rows):
    made = batch("results", int(rows) // EACH, EACH)
    workers = list(get_user_model().objects.filter(username__startswith="w").order_by("pk"))
    now = timezone.now()
    TaskAssignment.objects.bulk_create(
        (
            TaskAssignment(
                task=task,
                assigned_to=workers[(number * EACH + at) % len(workers)],
                completed=True,
                expires_at=now + timedelta(hours=24),
                answers={"mask": "correctly", "sure": "4", "why": f"It covers the nose, as in {number}."},
            )
            for number, task in enumerate(made.task_set.order_by("pk"))
            for at in range(EACH)
        ),
        batch_size=2000,
    )
    made.task_set.update(completed=True)
    Batch.objects.filter(pk=made.pk).update(completed=True)
    settle()
    return {"batch": made.pk}


def settle():
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    print(json.dumps({"begin": begin, "tasks": tasks, "results": results}[verb](*rest)))
