"""Bonuses and compensations: a quote first, then the confirmation, then what became of it."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import queue, tasks
from hits.api.base import ProjectView, operation
from hits.api.paging import PageQuery, asked, page, page_of
from hits.api.parsing import JSONParser
from hits.api.shapes import payments as shapes
from hits.domain.payment_totals import payment_totals
from hits.flow.payments import compensating, ordering
from hits.formats.faults import Faults
from hits.formats.payments import MOST_BYTES, AskedBonus
from hits.models import BonusFile, BonusOrder, Compensation

TAG = "Payments"
# What a form adds around its file: boundaries, headers and the other fields.
FORM_BYTES = 64 * 1024


# Takes bonuses as JSON, or as a CSV file in a form.
class AskingView(ProjectView):
    parser_classes = [JSONParser, MultiPartParser]
    heavy = frozenset({"POST"})

    def refuse_large_body(self, length: int) -> None:
        if not self._is_form(self.request):
            super().refuse_large_body(length)
        elif length > MOST_BYTES + FORM_BYTES:
            faults = Faults()
            faults.add(None, "", f"At most {MOST_BYTES / 1e6:,.1f} MB are taken at once. Split the file.")
            faults.refuse()

    @staticmethod
    def _is_form(request: Request) -> bool:
        return str(request.content_type).startswith("multipart/form-data")

    def asked_for(self, request: Request) -> tuple[list[ordering.NewBonus], str, str]:
        """The bonuses, and the file's name and SHA-256 where they came in one."""
        if self._is_form(request):
            form = shapes.BonusFile(data=request.data)
            form.is_valid(raise_exception=True)
            file = form.validated_data["file"]
            ordering.refuse_large(file.size)
            content = file.read()
            return ordering.read_file(self.project, content), file.name, hashlib.sha256(content).hexdigest()
        given = shapes.AskedBonuses(data=request.data)
        given.is_valid(raise_exception=True)
        lines = [AskedBonus(line, **one) for line, one in enumerate(given.validated_data["bonuses"], start=1)]
        return ordering.check(self.project, lines), "", ""


class BonusQuote(AskingView):
    @operation(
        "bonuses_quote",
        "What these bonuses would cost; pays nothing. Every fault is named at once",
        tag=TAG,
        takes={"application/json": shapes.AskedBonuses, "multipart/form-data": shapes.BonusFile},
        answer=shapes.BonusQuoteShape,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        new, _, digest = self.asked_for(request)
        body = {**vars(ordering.quote(self.project, new, digest)), "confirmation": str(uuid.uuid4())}
        return Response(shapes.BonusQuoteShape(body).data)


class Bonuses(AskingView):
    pays = frozenset({"POST"})

    @operation(
        "bonuses_list",
        "Every bonus of the project, with its state",
        tag=TAG,
        query=shapes.BonusQuery,
        answer=page_of(shapes.BonusShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, shapes.BonusQuery)
        rows = self.project.bonuses.select_related("assignment", "worker").defer("assignment__answer")
        if "state" in wanted:
            rows = rows.filter(state=wanted["state"])
        if "order" in wanted:
            rows = rows.filter(order=wanted["order"])
        return page(request, rows, shapes.BonusShape)

    @operation(
        "bonuses_create",
        "Confirm a quote: reserve its money and pay the bonuses; the same confirmation gives the same order",
        tag=TAG,
        takes={
            "application/json": shapes.BonusOrderRequest,
            "multipart/form-data": shapes.BonusFileOrderRequest,
        },
        answer=shapes.BonusOrderDetailShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.PaymentConfirmation(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        new, filename, digest = self.asked_for(request)
        # The caller chooses the key, so it counts within the project: nobody meets another project's order.
        confirmation = f"api:{self.project.pk}:{wanted['confirmation']}"
        order = ordering.order(self.project, new, wanted["total"], confirmation, self.user, filename, digest)
        queue.start(tasks.send_bonuses, self.project.pk)
        return Response(_order(order), status=status.HTTP_202_ACCEPTED)


def _order(order: BonusOrder) -> dict[str, Any]:
    order.counts = payment_totals(order.bonuses.all()).counts  # type: ignore[attr-defined]
    return dict(shapes.BonusOrderDetailShape(order).data)


class BonusFiles(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    def refuse_large_body(self, length: int) -> None:
        if length > MOST_BYTES + FORM_BYTES:
            raise RequestDataTooBig(f"At most {MOST_BYTES / 1e6:,.1f} MB are taken at once. Split the file.")

    @operation(
        "bonus_files_list",
        "The large files of bonuses that were sent in",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.ListedBonusFileShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.bonus_files.all(), shapes.ListedBonusFileShape)

    @operation(
        "bonus_files_create",
        "Send in a large file of bonuses: it is checked and priced in the background; pays nothing",
        tag=TAG,
        takes={"multipart/form-data": shapes.BonusFile},
        answer=shapes.BonusFileRowShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        form = shapes.BonusFile(data=request.data)
        form.is_valid(raise_exception=True)
        file = form.validated_data["file"]
        row = ordering.keep_file(self.project, file.name, file.read(), self.user)
        queue.start(tasks.work_bonus_file, row.pk)
        return _bonus_file(row)


def _bonus_file(row: BonusFile) -> Response:
    row.refresh_from_db()
    return Response(shapes.BonusFileRowShape(row).data, status=status.HTTP_202_ACCEPTED)


class BonusFileDetail(ProjectView):
    @operation(
        "bonus_files_retrieve",
        "How far a large file of bonuses is, its price or every fault, and its order",
        tag=TAG,
        answer=shapes.BonusFileRowShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(shapes.BonusFileRowShape(get_object_or_404(self.project.bonus_files, pk=pk)).data)


class OrderBonusFile(ProjectView):
    pays = frozenset({"POST"})

    @operation(
        "bonus_files_order",
        "Confirm the price of a large file: its bonuses are ordered in the background, and paid",
        tag=TAG,
        takes=shapes.PaymentConfirmation,
        answer=shapes.BonusFileRowShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.bonus_files, pk=pk)
        given = shapes.PaymentConfirmation(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        confirmation = f"api:{self.project.pk}:{wanted['confirmation']}"
        if ordering.confirm_file(row, wanted["total"], confirmation, self.user):
            queue.start(tasks.work_bonus_file, row.pk)
        return _bonus_file(row)


class BonusOrders(ProjectView):
    @operation(
        "bonus_orders_list",
        "What was ordered: single bonuses and files",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.BonusOrderShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.bonus_orders.select_related("created_by"), shapes.BonusOrderShape)


class BonusOrderDetail(ProjectView):
    @operation(
        "bonus_orders_retrieve",
        "How far an order is",
        tag=TAG,
        answer=shapes.BonusOrderDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(_order(get_object_or_404(self.project.bonus_orders.select_related("created_by"), pk=pk)))


class CompensationQuote(ProjectView):
    heavy = frozenset({"POST"})

    @operation(
        "compensations_quote",
        "What paying a worker who could not submit would cost; pays nothing",
        tag=TAG,
        takes=shapes.AskedCompensation,
        answer=shapes.CompensationQuoteShape,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.AskedCompensation(data=request.data)
        given.is_valid(raise_exception=True)
        quote = compensating.quote(self.project, **given.validated_data)
        body = {**vars(quote), "confirmation": str(uuid.uuid4())}
        return Response(shapes.CompensationQuoteShape(body).data)


class Compensations(ProjectView):
    pays = frozenset({"POST"})

    @operation(
        "compensations_list",
        "Every compensation of the project, with its state",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.CompensationShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.compensations.select_related("created_by"), shapes.CompensationShape)

    @operation(
        "compensations_create",
        "Confirm a quote: reserve its money and offer the worker a HIT that nobody else sees",
        tag=TAG,
        takes=shapes.CompensationRequest,
        answer=shapes.CompensationDetailShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.CompensationRequest(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        confirmation = f"api:{self.project.pk}:{wanted.pop('confirmation')}"
        row = compensating.order(self.project, **wanted, confirmation=confirmation, user=self.user)
        queue.start(tasks.send_compensations, self.project.pk)
        return Response(_compensation(row), status=status.HTTP_202_ACCEPTED)


def _compensation(row: Compensation) -> dict[str, Any]:
    row.refresh_from_db()
    is_offered = row.state == Compensation.State.OFFERED and not compensating.is_over(row)
    row.address = compensating.task_address(row)  # type: ignore[attr-defined]
    row.letter = compensating.letter(row) if is_offered else ""  # type: ignore[attr-defined]
    return dict(shapes.CompensationDetailShape(row).data)


class CompensationDetail(ProjectView):
    @operation(
        "compensations_retrieve",
        "One compensation, and a text for its worker",
        tag=TAG,
        answer=shapes.CompensationDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        rows = self.project.compensations.select_related("created_by", "project")
        return Response(_compensation(get_object_or_404(rows, pk=pk)))


class WithdrawCompensation(ProjectView):
    @operation(
        "compensations_withdraw",
        "Take back an offer that nobody has taken up",
        tag=TAG,
        answer=shapes.CompensationDetailShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.compensations, pk=pk)
        compensating.withdraw(row, self.user)
        queue.start(tasks.send_compensations, self.project.pk)
        return Response(_compensation(row), status=status.HTTP_202_ACCEPTED)
