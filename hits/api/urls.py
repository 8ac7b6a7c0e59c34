"""The API's addresses. Whoever includes this chooses the prefix, such as `api/`."""

from django.urls import path, re_path

from hits.api.docs import Docs, Schema
from hits.api.views import (
    account,
    answers,
    calls,
    money,
    payments,
    projects,
    publishing,
    qualification_tests,
    quality,
    releases,
    stages,
    task_settings,
    uploads,
)

app_name = "api"

PROJECT = "projects/<slug:slug>/"
STAGE = PROJECT + "stages/<slug:key>/"
TEST = PROJECT + "qualification-tests/<slug:test>/"

urlpatterns = [
    path("token/", account.TokenView.as_view(), name="token"),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", Docs.as_view(), name="docs"),
    path("recipes/", projects.Recipes.as_view(), name="recipes"),
    path("marketplace-calls/", calls.MarketplaceCalls.as_view(), name="marketplace-calls"),
    path("marketplace-balance/", calls.MarketplaceBalance.as_view(), name="marketplace-balance"),
    path("projects/", projects.Projects.as_view(), name="projects"),
    path(PROJECT, projects.ProjectDetail.as_view(), name="project"),
    path(PROJECT + "budget/", projects.Budget.as_view(), name="budget"),
    path(PROJECT + "owners/", projects.Owners.as_view(), name="owners"),
    path(PROJECT + "owners/<str:username>/", projects.Owner.as_view(), name="owner"),
    path(PROJECT + "uploads/", uploads.Uploads.as_view(), name="uploads"),
    path(PROJECT + "uploads/<int:pk>/", uploads.Upload.as_view(), name="upload"),
    path(PROJECT + "blocks/", quality.Blocks.as_view(), name="blocks"),
    path(PROJECT + "blocks/<int:pk>/undo/", quality.UndoBlock.as_view(), name="undo-block"),
    path(PROJECT + "ledger/", money.Ledger.as_view(), name="ledger"),
    path(PROJECT + "ledger/checks/", money.LedgerChecks.as_view(), name="ledger-checks"),
    path(PROJECT + "ledger/checks/<int:pk>/", money.LedgerCheckDetail.as_view(), name="ledger-check"),
    path(PROJECT + "bonuses/", payments.Bonuses.as_view(), name="bonuses"),
    path(PROJECT + "bonuses/quote/", payments.BonusQuote.as_view(), name="bonus-quote"),
    path(PROJECT + "bonus-orders/", payments.BonusOrders.as_view(), name="bonus-orders"),
    path(PROJECT + "bonus-orders/<int:pk>/", payments.BonusOrderDetail.as_view(), name="bonus-order"),
    path(PROJECT + "compensations/", payments.Compensations.as_view(), name="compensations"),
    path(PROJECT + "compensations/quote/", payments.CompensationQuote.as_view(), name="compensation-quote"),
    path(PROJECT + "compensations/<int:pk>/", payments.CompensationDetail.as_view(), name="compensation"),
    path(
        PROJECT + "compensations/<int:pk>/withdraw/",
        payments.WithdrawCompensation.as_view(),
        name="withdraw-compensation",
    ),
    path(PROJECT + "qualification-tests/", qualification_tests.Tests.as_view(), name="qualification-tests"),
    path(TEST, qualification_tests.Test.as_view(), name="qualification-test"),
    path(TEST + "draw/", qualification_tests.Draw.as_view(), name="draw-qualification-test"),
    path(TEST + "offer/", qualification_tests.Offer.as_view(), name="offer-qualification-test"),
    path(TEST + "withdraw/", qualification_tests.Withdraw.as_view(), name="withdraw-qualification-test"),
    path(TEST + "results/", qualification_tests.Results.as_view(), name="qualification-test-results"),
    path(TEST + "results/fetch/", qualification_tests.FetchResults.as_view(), name="fetch-qualification-test-results"),
    path(PROJECT + "release-preview/", releases.Preview.as_view(), name="release-preview"),
    path(PROJECT + "releases/", releases.Releases.as_view(), name="releases"),
    path(PROJECT + "releases/<int:number>/", releases.ReleaseDetail.as_view(), name="release"),
    path(
        PROJECT + "releases/<int:number>/files/<str:name>/", releases.ReleaseFileContent.as_view(), name="release-file"
    ),
    path(PROJECT + "stages/", stages.Stages.as_view(), name="stages"),
    path(STAGE, stages.StageDetail.as_view(), name="stage"),
    path(STAGE + "task/", task_settings.Task.as_view(), name="task"),
    path(STAGE + "quote/", publishing.Quote.as_view(), name="quote"),
    path(STAGE + "publish/", publishing.Publish.as_view(), name="publish"),
    path(STAGE + "batches/", publishing.Batches.as_view(), name="batches"),
    path(STAGE + "batches/<int:pk>/", publishing.BatchDetail.as_view(), name="batch"),
    path(STAGE + "pause/", publishing.Pause.as_view(), name="pause"),
    path(STAGE + "resume/", publishing.Resume.as_view(), name="resume"),
    path(STAGE + "expire/", publishing.Expire.as_view(), name="expire"),
    path(STAGE + "extend/", publishing.Extend.as_view(), name="extend"),
    path(STAGE + "clear-away/", publishing.ClearAway.as_view(), name="clear-away"),
    path(STAGE + "harvest/", stages.Harvest.as_view(), name="harvest"),
    path(STAGE + "workers/", quality.Workers.as_view(), name="workers"),
    path(STAGE + "check-quality/", quality.CheckQuality.as_view(), name="check-quality"),
    path(STAGE + "block-proposals/", quality.BlockProposals.as_view(), name="block-proposals"),
    path(STAGE + "block/", quality.BlockWorkers.as_view(), name="block"),
    path(STAGE + "required-tests/<slug:test>/", qualification_tests.RequiredTest.as_view(), name="required-test"),
    path(STAGE + "items/", answers.Items.as_view(), name="items"),
    path(STAGE + "items/<int:pk>/", answers.ItemDetail.as_view(), name="item"),
    path(STAGE + "answers/", answers.Answers.as_view(), name="answers"),
    path(STAGE + "answers/approve/", answers.Approve.as_view(), name="approve"),
    path(STAGE + "answers/reject/", answers.Reject.as_view(), name="reject"),
    path(STAGE + "answers/take-back/", answers.TakeBack.as_view(), name="take-back"),
    re_path("", account.NowhereView.as_view(), name="nowhere"),
]
