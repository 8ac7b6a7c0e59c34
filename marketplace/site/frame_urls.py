"""The addresses of the frames' host."""

from django.urls import path

from marketplace.site.views import frames

handler404 = "marketplace.site.views.frames.nothing_here"
handler500 = "marketplace.site.views.frames.broken"

urlpatterns = [
    path("frame/<str:token>/", frames.frame, name="frame"),
    path("frame/layout/<str:token>/", frames.layout, name="layout"),
]
