from django.urls import include, path

urlpatterns = [
    path("", include("hits.urls")),
]
