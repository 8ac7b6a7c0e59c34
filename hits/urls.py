from django.urls import include, path

from hits.views import (
    answers,
    calls,
    health,
    items,
    money,
    projects,
    publish,
    releases,
    signing_in,
    stages,
    task,
    workers,
)

project_urls = [
    path("", projects.detail, name="project"),
    path("owners/add/", projects.add_owner, name="add-owner"),
    path("owners/remove/", projects.remove_owner, name="remove-owner"),
    path("budget/", projects.change_budget, name="change-budget"),
    path("import/", projects.import_file, name="import"),
    path("uploads/<int:pk>/", projects.upload, name="upload"),
    path("uploads/<int:pk>/progress/", projects.upload_progress, name="upload-progress"),
    path("ledger/", money.ledger, name="ledger"),
    path("ledger.csv", money.ledger_csv, name="ledger-csv"),
    path("releases/", releases.releases, name="releases"),
    path("releases/preview/", releases.preview, name="release-preview"),
    path("releases/make/", releases.make, name="make-release"),
    path("releases/<int:number>/", releases.release, name="release"),
    path("releases/<int:number>/files/<str:name>", releases.download, name="release-file"),
    path("workers/<str:worker_id>/", workers.worker, name="worker"),
    path("blocks/<int:pk>/undo/", workers.undo, name="undo-block"),
]

stage_urls = [
    path("", stages.detail, name="stage"),
    path("progress/", stages.progress, name="stage-progress"),
    path("publish/", publish.publish, name="publish"),
    path("pause/", stages.pause, name="pause"),
    path("resume/", stages.resume, name="resume"),
    path("expire/", stages.expire, name="expire"),
    path("extend/", stages.extend, name="extend"),
    path("pay/", stages.pay, name="pay"),
    path("harvest/", stages.harvest, name="harvest"),
    path("check/", stages.check, name="check"),
    path("items/", items.items, name="items"),
    path("items/<int:pk>/", items.item, name="item"),
    path("hits/", items.hits, name="hits"),
    path("answers/", answers.answers, name="answers"),
    path("answers/approve/", answers.approve, name="approve"),
    path("answers/reject/", answers.reject, name="reject"),
    path("blocks/", workers.block, name="block"),
]

urlpatterns = [
    path("health/", health.health, name="health"),
    path("sign-in/", signing_in.SignIn.as_view(), name="login"),
    path("sign-out/", signing_in.SignOut.as_view(), name="logout"),
    path("api/", include("hits.api.urls")),
    path("", include(task.task_urls)),
    path("", projects.index, name="projects"),
    path("marketplace-calls/", calls.calls, name="marketplace-calls"),
    path("marketplace-calls/balance/", calls.balance, name="marketplace-balance"),
    path("new-project/", projects.new, name="new-project"),
    path("projects/<slug:slug>/", include(project_urls)),
    path("projects/<slug:slug>/stages/<slug:key>/", include(stage_urls)),
]
