"""The API's addresses. Whoever includes this chooses the prefix, such as `api/`."""

from django.urls import path, re_path

from hits.accounts.api import account
from hits.answers.api import answers
from hits.api.docs import Docs, Schema
from hits.core.api import routes
from hits.items.api import changes, media, queries, targets, uploads
from hits.judging.api import computations
from hits.model_assist.api import model_agreement, models, suggestions
from hits.notifications.api import notices
from hits.payments.api import ledger
from hits.people.api import messages, terms
from hits.projects.api import projects
from hits.publishing.api import calls, publishing
from hits.releases.api import releases, results
from hits.stages.api import rules, stages
from hits.workers.api import workers

app_name = "api"

PROJECT = "projects/<slug:slug>/"
STAGE = PROJECT + "stages/<slug:key>/"

urlpatterns = [
    path("token/", account.TokenView.as_view(), name="token"),
    path("tokens/", account.Tokens.as_view(), name="tokens"),
    path("tokens/<int:pk>/", account.OneToken.as_view(), name="one-token"),
    path("account/", account.Account.as_view(), name="account"),
    path("account/changes/", account.AccountChanges.as_view(), name="account-changes"),
    path("account/sessions/", account.Sessions.as_view(), name="sessions"),
    path("account/sessions/<int:pk>/", account.OneSession.as_view(), name="one-session"),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", Docs.as_view(), name="docs"),
    path("invitations/accept/", projects.AcceptInvitation.as_view(), name="accept-invitation"),
    path("notices/", notices.Notices.as_view(), name="notices"),
    path("notices/seen/", notices.Seen.as_view(), name="notices-seen"),
    path("notices/choices/", notices.Choices.as_view(), name="notices-choices"),
    path("notices/address/", notices.Address.as_view(), name="notices-address"),
    path("recipes/", projects.Recipes.as_view(), name="recipes"),
    path("plugin-faults/", projects.PluginFaults.as_view(), name="plugin-faults"),
    path("marketplace-calls/", calls.MarketplaceCalls.as_view(), name="marketplace-calls"),
    path("marketplace-balance/", calls.MarketplaceBalance.as_view(), name="marketplace-balance"),
    path("model/", models.ModelHome.as_view(), name="model"),
    path("model/stages/<slug:key>/", models.ModelStage.as_view(), name="model-stage"),
    path("model/stages/<slug:key>/items/", models.ModelItems.as_view(), name="model-items"),
    path("model/stages/<slug:key>/answers/", models.ModelAnswers.as_view(), name="model-answers"),
    path("projects/", projects.Projects.as_view(), name="projects"),
    path(PROJECT, projects.ProjectDetail.as_view(), name="project"),
    path(PROJECT + "recipe-file/", projects.RecipeFile.as_view(), name="recipe-file"),
    path(PROJECT + "results/", results.ProjectResults.as_view(), name="project-results"),
    path(PROJECT + "clone/", projects.Clone.as_view(), name="clone"),
    path(PROJECT + "archive/", projects.Archive.as_view(), name="archive"),
    path(PROJECT + "restore/", projects.Restore.as_view(), name="restore"),
    path(PROJECT + "simulated-crowd/", projects.SimulatedCrowd.as_view(), name="simulated-crowd"),
    path(PROJECT + "tags/", projects.Tags.as_view(), name="tags"),
    path(PROJECT + "actions/", projects.Actions.as_view(), name="actions"),
    path(PROJECT + "budget/", projects.Budget.as_view(), name="budget"),
    path(PROJECT + "requests/", ledger.Requests.as_view(), name="budget-requests"),
    path(PROJECT + "requests/<int:pk>/approve/", ledger.Approve.as_view(), name="approve-request"),
    path(PROJECT + "requests/<int:pk>/decline/", ledger.Decline.as_view(), name="decline-request"),
    path(PROJECT + "requests/<int:pk>/withdraw/", ledger.Withdraw.as_view(), name="withdraw-request"),
    path(PROJECT + "uploads/", uploads.Uploads.as_view(), name="uploads"),
    path(PROJECT + "uploads/columns/", uploads.TableColumns.as_view(), name="upload-columns"),
    path(PROJECT + "sample-file/", uploads.SampleFile.as_view(), name="sample-file"),
    path(PROJECT + "uploads/<int:pk>/", uploads.Upload.as_view(), name="upload"),
    path(PROJECT + "uploads/<int:pk>/stop/", uploads.StopUpload.as_view(), name="stop-upload"),
    path(PROJECT + "media/", media.Media.as_view(), name="media"),
    path(PROJECT + "media/<int:pk>/", media.MediaFile.as_view(), name="media-file"),
    path(PROJECT + "blocks/", workers.Blocks.as_view(), name="blocks"),
    path(PROJECT + "blocks/<int:pk>/undo/", workers.UndoBlock.as_view(), name="undo-block"),
    path(PROJECT + "messages/", messages.Messages.as_view(), name="messages"),
    path(PROJECT + "inbox/", messages.Inbox.as_view(), name="inbox"),
    path(PROJECT + "inbox/answered/", messages.MarkAnswered.as_view(), name="mark-answered"),
    path(PROJECT + "inbox/open/", messages.OpenAgain.as_view(), name="open-again"),
    path(PROJECT + "inbox/<int:pk>/reply/", messages.ReplyToWorker.as_view(), name="reply-to-worker"),
    path(PROJECT + "ledger/", ledger.Ledger.as_view(), name="ledger"),
    path(PROJECT + "ledger/checks/", ledger.LedgerChecks.as_view(), name="ledger-checks"),
    path(PROJECT + "ledger/checks/<int:pk>/", ledger.LedgerCheckDetail.as_view(), name="ledger-check"),
    path(PROJECT + "options/", computations.Options.as_view(), name="options"),
    path(PROJECT + "computations/", computations.Computations.as_view(), name="computations"),
    path(PROJECT + "computations/<slug:computation>/files/", computations.Files.as_view(), name="computation-files"),
    path(
        PROJECT + "computations/<slug:computation>/answers/", computations.Answers.as_view(), name="computation-answers"
    ),
    path(PROJECT + "computation-runs/", computations.Runs.as_view(), name="computation-runs"),
    path(PROJECT + "computation-runs/<int:pk>/", computations.Run.as_view(), name="computation-run"),
    path(
        PROJECT + "computation-runs/<int:pk>/resume/", computations.ResumeRun.as_view(), name="resume-computation-run"
    ),
    path(PROJECT + "computation-runs/<int:pk>/stop/", computations.StopRun.as_view(), name="stop-computation-run"),
    path(
        PROJECT + "computation-runs/<int:pk>/results/", computations.Results.as_view(), name="computation-run-results"
    ),
    path(PROJECT + "terms/", terms.TermsOfProject.as_view(), name="terms"),
    path(PROJECT + "release-card/", releases.ReleaseCard.as_view(), name="release-card"),
    path(PROJECT + "release-preview/", releases.Preview.as_view(), name="release-preview"),
    path(PROJECT + "releases/", releases.Releases.as_view(), name="releases"),
    path(PROJECT + "releases/<int:number>/evaluate/", releases.Evaluation.as_view(), name="evaluate-release"),
    path(PROJECT + "releases/<int:number>/systems/", releases.KeptSystem.as_view(), name="keep-system"),
    path(PROJECT + "releases/<int:number>/baselines/", releases.Baselines.as_view(), name="run-baselines"),
    path(PROJECT + "releases/<int:number>/archive/", releases.Archive.as_view(), name="release-archive"),
    path(PROJECT + "releases/<int:number>/", releases.ReleaseDetail.as_view(), name="release"),
    path(
        PROJECT + "releases/<int:number>/files/<path:name>/", releases.ReleaseFileContent.as_view(), name="release-file"
    ),
    path(PROJECT + "stages/", stages.Stages.as_view(), name="stages"),
    path(STAGE, stages.StageDetail.as_view(), name="stage"),
    path(STAGE + "settings/", stages.StageSettings.as_view(), name="stage-settings"),
    path(STAGE + "actions/", stages.Actions.as_view(), name="stage-actions"),
    path(STAGE + "task/", stages.Task.as_view(), name="task"),
    path(STAGE + "quote/", publishing.Quote.as_view(), name="quote"),
    path(STAGE + "publish/", publishing.Publish.as_view(), name="publish"),
    path(STAGE + "batches/", publishing.Batches.as_view(), name="batches"),
    path(STAGE + "batches/<int:pk>/", publishing.BatchDetail.as_view(), name="batch"),
    path(STAGE + "pause/", publishing.Pause.as_view(), name="pause"),
    path(STAGE + "resume/", publishing.Resume.as_view(), name="resume"),
    path(STAGE + "expire/", publishing.Expire.as_view(), name="expire"),
    path(STAGE + "extend/", publishing.Extend.as_view(), name="extend"),
    path(STAGE + "delete-hits/", publishing.DeleteHits.as_view(), name="delete-hits"),
    path(STAGE + "harvest/", stages.Harvest.as_view(), name="harvest"),
    path(STAGE + "workers/", workers.Workers.as_view(), name="workers"),
    path(STAGE + "worker-confusion/", workers.WorkerConfusion.as_view(), name="worker-confusion"),
    path(STAGE + "worker-texts/", workers.WorkerTexts.as_view(), name="worker-texts"),
    path(STAGE + "block-proposals/", workers.BlockProposals.as_view(), name="block-proposals"),
    path(STAGE + "message-workers/", messages.WriteToWorkers.as_view(), name="message-workers"),
    path(STAGE + "message-stage/", messages.WriteToStage.as_view(), name="message-stage"),
    path(STAGE + "pause-workers/", workers.PauseWorkers.as_view(), name="pause-workers"),
    path(STAGE + "block/", workers.BlockWorkers.as_view(), name="block"),
    path(STAGE + "required-tests/<slug:test>/", workers.RequiredTest.as_view(), name="required-test"),
    path(STAGE + "rule/", rules.StageRule.as_view(), name="rule"),
    path(STAGE + "rule/preview/", rules.RulePreview.as_view(), name="rule-preview"),
    path(STAGE + "rule/judge-again/", rules.JudgeAgain.as_view(), name="judge-again"),
    path(STAGE + "screening/", workers.Screening.as_view(), name="screening"),
    path(STAGE + "suggestions/", suggestions.Suggestions.as_view(), name="suggestions"),
    path(STAGE + "agreement/", computations.Agreement.as_view(), name="agreement"),
    path(STAGE + "people-and-models/", model_agreement.PeopleAndModels.as_view(), name="people-and-models"),
    path(STAGE + "routings/", model_agreement.Routings.as_view(), name="routings"),
    path(STAGE + "routings/preview/", model_agreement.RoutingPreview.as_view(), name="routing-preview"),
    path(STAGE + "routings/<int:pk>/undo/", model_agreement.UndoRouting.as_view(), name="undo-routing"),
    path(STAGE + "draw/", computations.Draw.as_view(), name="draw"),
    path(STAGE + "items/", answers.Items.as_view(), name="items"),
    path(STAGE + "items/<int:pk>/", answers.ItemDetail.as_view(), name="item"),
    path(STAGE + "targets/", targets.Targets.as_view(), name="targets"),
    path(STAGE + "targets/<int:pk>/", targets.Target.as_view(), name="target"),
    path(STAGE + "targets/<int:pk>/undo/", targets.UndoTarget.as_view(), name="undo-target"),
    path(STAGE + "articles/", queries.Articles.as_view(), name="articles"),
    path(STAGE + "articles/<int:pk>/", queries.Article.as_view(), name="article"),
    path(STAGE + "articles/<int:pk>/drop-query/", queries.DropQuery.as_view(), name="drop-query"),
    path(STAGE + "articles/<int:pk>/undo/", queries.UndoArticle.as_view(), name="undo-article"),
    path(STAGE + "annotations/", queries.Annotations.as_view(), name="annotations"),
    path(STAGE + "generate-again/", queries.GenerateAgain.as_view(), name="generate-again"),
    path(STAGE + "change-sets/", queries.ChangeSets.as_view(), name="change-sets"),
    path(STAGE + "change-sets/<int:pk>/", queries.OneChangeSet.as_view(), name="change-set"),
    path(STAGE + "change-sets/<int:pk>/confirm/", queries.ConfirmChangeSet.as_view(), name="confirm-change-set"),
    path(STAGE + "change-sets/<int:pk>/undo/", queries.UndoChangeSet.as_view(), name="undo-change-set"),
    path(STAGE + "results/", results.StageResults.as_view(), name="results"),
    path(STAGE + "results/columns/", results.ResultsColumns.as_view(), name="results-columns"),
    path(STAGE + "results/form/", results.ResultsForm.as_view(), name="results-form"),
    path(STAGE + "results/<int:pk>/", results.ResultFile.as_view(), name="result-file"),
    path(STAGE + "answers/", answers.Answers.as_view(), name="answers"),
    path(STAGE + "answers/approve/", answers.Approve.as_view(), name="approve"),
    path(STAGE + "answers/reject/", answers.Reject.as_view(), name="reject"),
    path(STAGE + "answers/undo/", answers.UndoDecision.as_view(), name="undo-decision"),
    path(STAGE + "answers/take-back/", answers.TakeBack.as_view(), name="take-back"),
    path(STAGE + "changes/", changes.Changes.as_view(), name="changes"),
    path(STAGE + "changes/left-out/", changes.LeftOut.as_view(), name="left-out"),
    path(STAGE + "changes/<int:pk>/undo/", changes.UndoChange.as_view(), name="undo-change"),
    path(STAGE + "changes/<int:pk>/redo/", changes.RedoChange.as_view(), name="redo-change"),
    *routes(PROJECT),
    # The last of all: whatever else is asked for is answered as the API answers.
    re_path("", account.NowhereView.as_view(), name="nowhere"),
]
