"""The task pages alone, so that these tests stand without the rest of the site."""

from hits.views.task import task_urls

urlpatterns = task_urls
