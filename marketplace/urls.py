from django.urls import include, path

_ERRORS = "marketplace.site.views.errors"
handler400 = f"{_ERRORS}.bad_request"
handler403 = f"{_ERRORS}.forbidden"
handler404 = f"{_ERRORS}.not_found"
handler405 = f"{_ERRORS}.no_page"
handler500 = f"{_ERRORS}.server_error"

# POST / is the requester API; marketplace.wire.middleware answers it before any URL is looked up.
urlpatterns = [
    path("operator/", include("marketplace.site.operator.urls")),
    path("", include("marketplace.site.urls")),
]
