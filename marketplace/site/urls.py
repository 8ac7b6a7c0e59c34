"""The worker's addresses. POST / never gets here: the wire answers it."""

from django.urls import path
from django.views.i18n import set_language

from marketplace.site.language import words
from marketplace.site.views import (
    accounts,
    browse,
    concerns,
    history,
    messages,
    panels,
    privacy,
    qualifications,
    submit,
    work,
)

app_name = "site"

urlpatterns = [
    path("", browse.home, name="home"),
    # Two links to one page, both in use by programs that recruit: each takes a HIT type id or a group id.
    path("mturk/preview", browse.preview, name="preview"),
    path("projects/<str:group_id>/tasks", browse.preview, name="project"),
    path("projects/<str:group_id>/tasks/accept_random", browse.preview, name="project_accept"),
    path("mturk/previewandaccept", browse.preview, name="preview_and_accept"),
    path("mturk/report", concerns.report, name="report"),
    path("mturk/accept", work.accept, name="accept"),
    path("mturk/work/<int:pk>/", work.work, name="work"),
    path("mturk/work/<int:pk>/return/", work.give_back, name="give_back"),
    path("mturk/work/<int:pk>/after/", work.after, name="after"),
    path("mturk/finished", work.finished, name="finished"),
    path("mturk/auto-accept/", work.auto_accept, name="auto_accept"),
    path("mturk/externalSubmit", submit.external_submit, name="external_submit"),
    path("worker/", history.my_work, name="my_work"),
    path("worker/return-all/", work.give_back_all, name="give_back_all"),
    path("worker/dispute/<int:pk>/", concerns.dispute, name="dispute"),
    path("worker/earnings/csv/", history.earnings_file, name="earnings_file"),
    path("worker/earnings/", history.earnings, name="earnings"),
    path("worker/qualifications/", qualifications.held, name="qualifications"),
    path("worker/qualifications/offered/", qualifications.offered, name="qualifications_offered"),
    path("worker/qualifications/asked/", qualifications.asked, name="qualifications_asked"),
    path("worker/qualifications/test/<str:request_id>/", qualifications.test, name="qualification_test"),
    path("worker/qualifications/<str:type_id>/", qualifications.qualification, name="qualification"),
    path("worker/qualifications/<str:type_id>/ask/", qualifications.ask, name="ask_qualification"),
    path("worker/messages/", messages.inbox, name="messages"),
    path("worker/messages/<int:pk>/", messages.message, name="message"),
    path("worker/messages/<int:pk>/read/", messages.read, name="message_read"),
    path("worker/messages/read-all/", messages.read_all, name="messages_read_all"),
    path("worker/messages/by-mail/", messages.mail, name="messages_mail"),
    path("worker/profile/", history.profile, name="profile"),
    path("worker/profile/adult/", history.adult, name="adult"),
    path("worker/profile/place/", accounts.place, name="place"),
    path("worker/profile/email/", accounts.change_email, name="change_email"),
    path("worker/profile/email/again/", accounts.resend_confirmation, name="resend_confirmation"),
    path("worker/profile/password/", accounts.change_password, name="change_password"),
    path("worker/privacy/", privacy.overview, name="privacy"),
    path("worker/privacy/data/", privacy.data, name="privacy_data"),
    path("worker/privacy/delete/", privacy.delete, name="privacy_delete"),
    path("worker/finish/", panels.finish, name="panel_finish"),
    path("panel/<slug:slug>/", panels.enter, name="panel"),
    path("join/<str:token>/", accounts.join, name="join"),
    path("accounts/confirm/<str:token>/", accounts.confirm_email, name="confirm_email"),
    path("accounts/forgot/", accounts.forgot, name="forgot"),
    path("accounts/reset/<str:uidb64>/<str:token>/", accounts.ResetPassword.as_view(), name="reset_password"),
    path("accounts/signup/", accounts.signup, name="signup"),
    path("accounts/login/", accounts.login, name="login"),
    path("accounts/logout/", accounts.logout, name="logout"),
    path("language/", set_language, name="language"),
    path("language/<str:language>/words.js", words, name="words"),
]
