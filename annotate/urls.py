from django.urls import include, path

handler405 = "hits.views.guard.no_page"

urlpatterns = [
    path("", include("hits.urls")),
]
