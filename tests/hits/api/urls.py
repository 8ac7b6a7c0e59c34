"""The API alone, under the prefix that the whole project gives it."""

from django.urls import include, path

urlpatterns = [path("api/", include("hits.api.urls"))]
