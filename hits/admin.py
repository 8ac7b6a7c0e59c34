"""The admin looks, it does not steer: rows change through the rooms, which keep money and labels true."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from hits.models import Batch, Block, LedgerEntry, Project, Release, Stage, Upload


class ReadOnlyAdmin(admin.ModelAdmin):
    # Counting every row for a list's footer would cost more with every batch.
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ["name", "slug", "recipe", "created_at"]


@admin.register(Stage)
class StageAdmin(ReadOnlyAdmin):
    list_display = ["title", "project", "protocol", "state", "reward", "answers"]
    list_select_related = ["project"]


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin):
    list_display = ["id", "stage", "kind", "state", "done", "total", "refused", "created_at"]
    list_select_related = ["stage__project"]


@admin.register(Block)
class BlockAdmin(ReadOnlyAdmin):
    list_display = ["worker", "project", "stage", "state", "created_at"]
    list_select_related = ["worker", "project", "stage__project"]


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "kind", "reserved", "paid", "created_at"]
    list_select_related = ["project"]


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ["name", "project", "state", "items", "fault_count", "created_at"]
    list_select_related = ["project"]


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ["project", "number", "digest", "created_at"]
    list_select_related = ["project"]
