from django.urls import include, path

from marketplace.health import health

# POST / is the requester API; marketplace.wire.middleware answers it before any URL is looked up.
urlpatterns = [
    path("health/", health, name="health"),
    path("", include("marketplace.site.urls")),
]
