"""The worker's addresses. POST / never gets here: the wire answers it."""

from django.urls import path

from marketplace.site.views import accounts, browse, history, submit, work

app_name = "site"

urlpatterns = [
    path("", browse.home, name="home"),
    # Two links to one page, both in use by programs that recruit: each takes a HIT type id or a group id.
    path("mturk/preview", browse.preview, name="preview"),
    path("projects/<str:group_id>/tasks", browse.preview, name="project"),
    path("mturk/accept", work.accept, name="accept"),
    path("mturk/work/<int:pk>/", work.work, name="work"),
    path("mturk/work/<int:pk>/return/", work.give_back, name="give_back"),
    path("mturk/work/<int:pk>/after/", work.after, name="after"),
    path("mturk/finished", work.finished, name="finished"),
    path("mturk/auto-accept/", work.auto_accept, name="auto_accept"),
    path("mturk/externalSubmit", submit.external_submit, name="external_submit"),
    path("worker/", history.my_work, name="my_work"),
    path("worker/earnings/", history.earnings, name="earnings"),
    path("worker/qualifications/", history.qualifications, name="qualifications"),
    path("worker/profile/", history.profile, name="profile"),
    path("accounts/signup/", accounts.signup, name="signup"),
    path("accounts/login/", accounts.login, name="login"),
    path("accounts/logout/", accounts.logout, name="logout"),
]
