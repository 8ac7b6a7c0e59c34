import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from hits.recipes import JudgedItem, NextItem, OptionError, RecipeError, available, faults, load
from hits.stats.blocking import Policy
from hits.stats.vote_rules.votes import Rule
from hits.text.questions.query_options import OPTIONS

STEPS = """
def read_documents(stream, *, max_bytes, default_origin, progress=None): return []
from hits.recipes.source import NextItem
def mark(documents_meta, *, seed, options): return {}
def next_items(item): return [NextItem("second", item.key, item.data)] if item.stage == "first" else []
def build_release(collected): return None
"""
STAGE = """
[[stages]]
key = "first"
title = "First"
protocol = "clickable_entity"
reward = "0.10"
answers = 3
assignment_seconds = 600
lifetime_seconds = 3600
auto_approval_seconds = 259200
approval = "review"
hit_title = "A title"
hit_description = "A description"
rule = { name = "matches_reference", version = 1, need = 2 }
"""
HEAD = 'title = "Ours"\nversion = "3"\ndescription = "Our own."\n'


def judged(stage, outcome="kept"):
    return JudgedItem(stage, "i1", {}, "d1", {}, "public", "eval", outcome)


def later_stages(recipe, stage):
    return [item.stage for item in recipe.next_items(judged(stage))]


def put(root: Path, toml: str, steps: str | None = STEPS, name: str = "ours") -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stages.toml").write_text(toml, encoding="utf-8")
    if steps is not None:
        (folder / "steps.py").write_text(steps, encoding="utf-8")
    return root


def faults_of(root: Path, toml: str) -> tuple[str, ...]:
    with pytest.raises(RecipeError) as caught:
        load("ours", [put(root, toml)])
    assert str(root / "ours" / "stages.toml") in caught.value.in_full
    assert str(root) not in str(caught.value)
    return caught.value.faults


def test_record_has_the_published_numbers():
    recipe = load("record")
    assert [(s.key, s.feeds, s.asks_other_workers_than, s.draws) for s in recipe.stages] == [
        ("generate", None, (), 0),
        ("validate", "revalidate", (), 1_000_000),
        ("revalidate", "human", ("validate",), 0),
        ("human", None, ("validate", "revalidate"), 0),
        ("reasoning", None, (), 100),
    ]
    assert recipe.options == {
        "eval_share": 0.18, "public_parts": 3, "crawled_parts": 7, "dev_share": 0.5, "tokeniser": "whitespace",
        **OPTIONS,
    }  # fmt: skip
    made, *asked = recipe.stages
    assert (made.crowd, made.protocol) == (False, "passage_queries")
    assert (asked[3].protocol, asked[3].answers) == ("labelling", 1)
    for stage in asked[:3]:
        assert (stage.protocol, stage.reward, stage.answers) == ("clickable_entity", Decimal("0.04"), 1)
        assert stage.settings == {"min_seconds": 30, "early_submit": "notice"}
    for stage in asked:
        assert [requirement.to_dict() for requirement in stage.requirements] == [
            {"qualification": "percent_approved", "comparator": "GreaterThanOrEqualTo", "integers": [95],
             "guards": "PreviewAndAccept"},
            {"qualification": "number_approved", "comparator": "GreaterThanOrEqualTo", "integers": [50],
             "guards": "PreviewAndAccept"},
            {"qualification": "locale", "comparator": "In", "locales": ["US", "CA", "GB"],
             "guards": "PreviewAndAccept"},
            {"qualification": "poor-quality", "comparator": "DoesNotExist", "guards": "PreviewAndAccept"},
        ]  # fmt: skip
    matching = Rule("matches_reference", 1, {"need": 1, "answers": 1})
    measured = Rule("measured", 1, {"answers": 1})
    assert [s.rule for s in asked] == [matching, matching, measured, measured]
    assert [s.quality for s in asked] == [*[Policy(1000, 20, 0.20, 0.01)] * 3, None]
    assert [s.auto_block for s in asked] == [True, True, True, False]


def test_the_reward_of_record_pays_three_dollars_sixty_an_hour():
    assert load("record").stages[1].reward * 3600 / 40 == Decimal("3.60")


def test_the_steps_of_record_lead_along_the_stages():
    recipe = load("record")
    for stage in recipe.stages:
        assert later_stages(recipe, stage.key) == ([stage.feeds] if stage.feeds else [])


NO_NEXT = "\n".join(line for line in STEPS.splitlines() if "next_items" not in line)


def test_without_steps_of_its_own_what_is_kept_goes_to_the_stage_that_is_fed(tmp_path):
    second = STAGE.replace("first", "second")
    recipe = load("ours", [put(tmp_path, HEAD + STAGE + 'feeds = "second"\n' + second, NO_NEXT)])
    kept = judged("first")
    assert recipe.next_items(kept) == [NextItem("second", kept.key, kept.data)]
    assert recipe.next_items(replace(kept, outcome="dropped")) == []
    assert recipe.next_items(judged("second")) == []


def test_steps_that_lead_elsewhere_than_to_the_stage_that_is_fed_are_refused(tmp_path):
    second, third = (STAGE.replace("first", key) for key in ("second", "third"))
    recipe = load("ours", [put(tmp_path, HEAD + STAGE + 'feeds = "third"\n' + second + third)])
    with pytest.raises(RecipeError, match="lead from 'first' to 'second', but feeds names 'third'"):
        recipe.next_items(judged("first"))


def test_a_recipe_in_another_folder_is_found(tmp_path):
    second = STAGE.replace("first", "second") + 'asks_other_workers_than = ["first"]\n'
    put(tmp_path, HEAD + STAGE + 'feeds = "second"\n' + second)
    assert {"ours", "record"} <= set(available([tmp_path]))
    recipe = load("ours", [tmp_path])
    assert (recipe.name, recipe.title, recipe.version) == ("ours", "Ours", "3")
    assert later_stages(recipe, "first") == ["second"]
    assert recipe.stages[0].rule.params == {"need": 2, "answers": 3}
    assert recipe.stages[1].asks_other_workers_than == ("first",)
    assert load("ours", [tmp_path]).steps is recipe.steps


def test_equal_names_in_two_places_have_steps_of_their_own(tmp_path):
    one = put(tmp_path / "one", HEAD + STAGE)
    two = put(tmp_path / "two", HEAD + STAGE, STEPS.replace('"second"', '"other"'))
    assert later_stages(load("ours", [one]), "first") == ["second"]
    assert later_stages(load("ours", [two]), "first") == ["other"]
    with pytest.raises(RecipeError, match="another folder has the same name .one.ours.: rename one of them"):
        load("ours", [one, two])


def test_an_unknown_recipe_names_those_that_are_there():
    with pytest.raises(RecipeError, match="there is no recipe of this name; there are: .*record"):
        load("recordings")


def test_all_faults_of_a_file_come_at_once(tmp_path):
    broken = STAGE.replace('"0.10"', "0.10").replace("answers = 3", "answers = 0").replace("review", "maybe")
    faults = faults_of(tmp_path, HEAD + "colour = 1\n" + broken + "pay = 3\nfeeds = 7\n")
    assert [fault.split()[0] for fault in faults] == [
        "colour",
        "stages[0].answers",
        "stages[0].rule",
        "stages[0].reward",
        "stages[0].approval",
        "stages[0].feeds",
        "stages[0].pay",
    ]


@pytest.mark.parametrize(
    "old, new, fault",
    [
        ('reward = "0.10"', 'reward = "0.105"', "stages[0].reward must be dollars and cents in quotes"),
        ("= 259200", "= 0", "stages[0].auto_approval_seconds must be more than 0 s: answers are approved by a lead"),
        ("answers = 3", 'answers = 3\ninput = { stage = "later" }', "stages[0].input.stage must name an earlier stage"),
        ("answers = 3", 'answers = 3\ninput = { each = "answer" }', "stages[0].input is answer, which the rows"),
        ("answers = 3", "answers = 3\ninput = { each = 3 }", "stages[0].input must be a table such as { stage ="),
        ('reward = "0.10"', 'reward = "-1"', "stages[0].reward must be dollars and cents"),
        ('reward = "0.10"', 'reward = "NaN"', "stages[0].reward must be dollars and cents"),
        ('reward = "0.10"', 'reward = "ten"', "stages[0].reward must be dollars and cents"),
        ('key = "first"', 'key = "First!"', "stages[0].key must be lower-case words joined by hyphens"),
        ('protocol = "clickable_entity"', "", "stages[0].protocol must be the name of a protocol's folder, not None"),
        ('hit_title = "A title"', 'hit_title = " "', "stages[0].hit_title must be a text that is not blank"),
        ('hit_title = "A title"', f'hit_title = "{"x" * 129}"', "stages[0].hit_title has 129 characters"),
        ("assignment_seconds = 600", "assignment_seconds = 29", "stages[0].assignment_seconds must be a whole number"),
        ("lifetime_seconds = 3600", "lifetime_seconds = true", "stages[0].lifetime_seconds must be a whole number"),
        ("version = 1", "version = 9", "there is no rule 'matches_reference' in version 9"),
        ("need = 2", "need = 4", "3 answers cannot hold 4 right"),
        ("need = 2", "needs = 2", "needs exactly the parameters"),
        ("rule = {", 'quality = { flor = 0.2 }\nrule = {', "stages[0].quality is wrong: unknown key 'flor'"),
        ("rule = {", 'quality = { alpha = 1 }\nrule = {', "stages[0].quality is wrong: alpha must be a number"),
        ("rule = {", 'settings = 3\nrule = {', "stages[0].settings must be a table"),
        ("rule = {", 'feeds = "first"\nrule = {', "stages[0].feeds must name a later stage, not 'first'"),
        ("rule = {", 'asks_other_workers_than = ["first"]\nrule = {', "must name earlier stages, not 'first'"),
        ("rule = {", 'requirements = [3]\nrule = {', "stages[0].requirements must be a list of tables"),
        ("rule = {", 'grants = "pool-students"\nrule = {', "stages[0].grants must not begin with pool-"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(tmp_path, old, new, fault):
    assert old in STAGE
    (found,) = faults_of(tmp_path, HEAD + STAGE.replace(old, new))
    assert fault in found


@pytest.mark.parametrize(
    "requirement, fault",
    [
        ('qualification = "percent_aproved", comparator = "EqualTo", integers = [1]', "names no qualification"),
        ('qualification = "percent-approved", comparator = "EqualTo", integers = [1]', "names no qualification"),
        ('qualification = "percent_approved", comparator = "AtLeast", integers = [1]', "comparator must be one of"),
        ('qualification = "percent_approved", comparator = "EqualTo"', "takes integers with every comparator but"),
        ('qualification = "percent_approved", comparator = "EqualTo", integers = [1, 2]', "takes one value"),
        ('qualification = "percent_approved", comparator = "EqualTo", integers = ["1"]', "a list of whole numbers"),
        ('qualification = "poor-quality", comparator = "DoesNotExist", integers = [1]', "takes integers with every"),
        ('qualification = "poor-quality", comparator = "In", integers = [1], locales = ["US"]', "takes no locales"),
        ('qualification = "pool-students", comparator = "EqualTo", integers = [2]', "is a pool, which takes Exists or"),
        ('qualification = "locale", comparator = "In", integers = [1]', "locale takes EqualTo"),
        ('qualification = "locale", comparator = "EqualTo", locales = ["US", "CA"]', "takes one value"),
        ('qualification = "locale", comparator = "In", locales = ["USA"]', "a list of country codes"),
        ('qualification = "locale", comparator = "In", locales = ["US"], guards = "None"', "guards must be one of"),
        ('qualification = "locale", comparator = "In", locales = ["US"], preview = true', "preview is unknown"),
    ],
)
def test_a_wrong_requirement_is_named(tmp_path, requirement, fault):
    found = faults_of(tmp_path, HEAD + STAGE + f"requirements = [{{ {requirement} }}]\n")
    assert fault in found[0]
    assert found[0].startswith("stages[0].requirements[0]")


def test_all_faults_of_a_requirement_come_at_once_and_none_that_follows_from_another(tmp_path):
    given = 'qualification = "locale", comparator = "LessThan", integers = [1], guards = "All", local = ["US"]'
    assert faults_of(tmp_path, HEAD + STAGE + f"requirements = [{{ {given} }}]\n") == (
        "stages[0].requirements[0].comparator does not fit: locale takes EqualTo, NotEqualTo, In or NotIn with locales",
        "stages[0].requirements[0].guards must be one of Accept, PreviewAndAccept, DiscoverPreviewAndAccept, not 'All'",
        "stages[0].requirements[0].local is unknown: remove it or correct its spelling to locales",
    )
    given = 'qualification = "local", comparator = "LessThan", integers = ["1"]'
    assert [fault.split()[0] for fault in faults_of(tmp_path, HEAD + STAGE + f"requirements = [{{ {given} }}]\n")] == [
        "stages[0].requirements[0].qualification",
        "stages[0].requirements[0].integers",
    ]


def test_requirements_have_the_limit_of_the_marketplace(tmp_path):
    one = '{ qualification = "percent_approved", comparator = "GreaterThan", integers = [90] }'
    assert len(load("ours", [put(tmp_path, f"{HEAD}{STAGE}requirements = [{', '.join([one] * 10)}]")]).stages) == 1
    assert faults_of(tmp_path, f"{HEAD}{STAGE}requirements = [{', '.join([one] * 11)}]") == (
        "stages[0].requirements holds 11, the limit is 10",
    )


@pytest.mark.parametrize(
    ("toml", "fault"),
    [
        (HEAD + STAGE + "lifetime_second = 60", "stages[0].lifetime_second is unknown: %s to lifetime_seconds"),
        (HEAD + "describtion = 1" + STAGE, "describtion is unknown: %s to description"),
        (HEAD + "[options.x]\nvalue = 1\nlabels = 2\n" + STAGE, "options.x.labels is unknown: %s to label"),
        (HEAD + STAGE + "pay = 60", "stages[0].pay is unknown: %s"),
    ],
)
def test_a_key_that_is_spelled_nearly_like_one_is_corrected(tmp_path, toml, fault):
    assert faults_of(tmp_path, toml) == (fault % "remove it or correct its spelling",)


PREPARE = """
[[stages]]
key = "prepare"
title = "Prepared texts"
crowd = false
protocol = "passage_queries"
"""


def test_the_first_stage_can_be_without_a_crowd(tmp_path):
    first, second = load("ours", [put(tmp_path, HEAD + PREPARE + STAGE)]).stages
    assert (first.key, first.crowd, first.rule, first.reward, first.auto_publish) == ("prepare", False, None, 0, False)
    assert second.crowd


def test_what_is_of_a_crowd_is_refused_without_one_all_at_once(tmp_path):
    wrong = 'reward = "0.10"\nanswers = 3\nhit_title = "A title"\nfeeds = "first"\ncolour = 1\n'
    assert faults_of(tmp_path, HEAD + PREPARE + wrong + STAGE) == (
        "stages[0].reward is of a stage with a crowd: remove it here",
        "stages[0].answers is of a stage with a crowd: remove it here",
        "stages[0].hit_title is of a stage with a crowd: remove it here",
        "stages[0].feeds is of a stage with a crowd: remove it here",
        "stages[0].colour is unknown: remove it or correct its spelling",
    )


SHARED = """
[defaults]
reward = "0.20"
keywords = "reading"
requirements = [{ qualification = "percent_approved", comparator = "GreaterThan", integers = [90] }]
"""
DRAWN, PUBLISHED = "draws = 5\n", "auto_publish = true\n"
SECOND = STAGE.replace('"first"', '"second"').replace('reward = "0.10"\n', "")


def test_what_a_stage_does_not_state_stands_in_defaults(tmp_path):
    stages = load("ours", [put(tmp_path, HEAD + SHARED + STAGE + SECOND)]).stages
    assert [str(stage.reward) for stage in stages] == ["0.10", "0.20"]
    assert [stage.keywords for stage in stages] == ["reading", "reading"]
    assert stages[0].requirements == stages[1].requirements != ()


def test_a_stage_without_a_crowd_takes_no_defaults(tmp_path):
    crowdless = '[[stages]]\nkey = "made"\ntitle = "Made"\nprotocol = "passage_queries"\ncrowd = false\n'
    stages = load("ours", [put(tmp_path, HEAD + SHARED + crowdless + STAGE)]).stages
    assert (stages[0].keywords, stages[1].keywords) == ("", "reading")


def test_an_empty_value_undoes_that_of_defaults(tmp_path):
    shared = '\n[defaults]\nfeeds = "second"\nexpected_seconds = 30\n'
    own = SECOND + 'reward = "0.1"\nfeeds = ""\nexpected_seconds = 0\n'
    first, second = load("ours", [put(tmp_path, HEAD + shared + STAGE + own)]).stages
    assert [(one.feeds, one.expected_seconds) for one in (first, second)] == [("second", 30), (None, None)]
    assert str(second.reward) == "0.10"


def test_what_is_drawn_is_not_published_by_itself_unless_the_stage_says_so(tmp_path):
    keys = ("first", "second", "third")
    stages = [
        STAGE.replace("first", key) + more for key, more in zip(keys, ("", DRAWN, DRAWN + PUBLISHED), strict=True)
    ]
    found = load("ours", [put(tmp_path, HEAD + "".join(stages))]).stages
    assert [stage.auto_publish for stage in found] == [True, False, True]


def test_a_fault_in_defaults_is_named_once_and_there(tmp_path):
    wrong = SHARED.replace('"0.20"', "20").replace("[90]", '["90"]') + 'key = "k"\nrewards = "0.10"\n'
    stages = STAGE.replace('reward = "0.10"\n', "") + SECOND
    assert sorted(faults_of(tmp_path, HEAD + wrong + stages)) == [
        "defaults cannot hold key: each stage has its own",
        "defaults.requirements[0].integers must be a list of whole numbers, not ['90']",
        'defaults.reward must be dollars and cents in quotes, such as "0.04", not 20',
        "defaults.rewards is unknown: remove it or correct its spelling to reward",
    ]


def test_only_the_first_of_several_stages_can_be_without_a_crowd(tmp_path):
    other = PREPARE.replace("prepare", "other")
    assert faults_of(tmp_path, HEAD + PREPARE + other + STAGE) == (
        "stages[1].crowd is false: only the first stage can be without a crowd",
    )
    assert faults_of(tmp_path, HEAD + PREPARE) == ("stages must hold at least one stage with a crowd",)
    both = STAGE + 'asks_other_workers_than = ["prepare"]\n'
    (fault,) = faults_of(tmp_path, HEAD + PREPARE + both)
    assert "asks_other_workers_than must name earlier stages, not 'prepare'" in fault


def test_two_stages_cannot_share_a_key(tmp_path):
    assert faults_of(tmp_path, HEAD + STAGE + STAGE) == ("stages[1].key 'first' is the key of two stages",)


def test_a_recipe_needs_a_stage(tmp_path):
    assert faults_of(tmp_path, HEAD) == ("stages must hold at least one stage",)
    assert faults_of(tmp_path, HEAD + "stages = 3") == ("stages must be a list of tables, not 3",)


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    assert faults_of(tmp_path, "title =")[0].startswith("is not TOML: ")


@pytest.mark.parametrize(
    "steps, fault",
    [
        (None, "the file is missing"),
        ("def mark(): pass", "the function build_release is missing"),
        ("import nowhere_to_be_found", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_steps_that_are_missing_or_broken_are_refused(tmp_path, steps, fault):
    with pytest.raises(RecipeError, match="steps.py: ") as caught:
        load("ours", [put(tmp_path, HEAD + STAGE, steps)])
    assert fault in str(caught.value)


def test_steps_elsewhere_import_modules_beside_them_and_of_the_protocol_of_their_folder(tmp_path):
    steps = STEPS + "from .parts import PARTS\nfrom ...protocols.sorting.marking import KINDS\n"
    put(tmp_path / "recipes", HEAD + STAGE, steps)
    (tmp_path / "recipes" / "ours" / "parts.py").write_text("PARTS = ['np']\n")
    (tmp_path / "protocols" / "sorting").mkdir(parents=True)
    (tmp_path / "protocols" / "sorting" / "marking.py").write_text("KINDS = ['a']\n")
    loaded = load("ours", [tmp_path / "recipes"]).steps
    assert (loaded.PARTS, loaded.KINDS) == (["np"], ["a"])


def test_a_folder_needs_a_plain_name(tmp_path):
    folder = put(tmp_path, HEAD + STAGE, name="Our-Recipe")
    with pytest.raises(RecipeError, match="name the folder in lower case"):
        load("Our-Recipe", [folder])
    assert available([folder]) == available()


@pytest.mark.parametrize(
    ("toml", "steps", "why"),
    [
        ("title = ", STEPS, "is not TOML"),
        (HEAD, STEPS, "stages must hold at least one stage"),
        (HEAD + STAGE, "import juggling_tools", "No module named 'juggling_tools'"),
        (HEAD + STAGE, "def (", "SyntaxError"),
        (HEAD + STAGE, "raise SystemExit(1)", "SystemExit"),
        (HEAD + STAGE, None, "the file is missing"),
        (None, STEPS, "the file is missing: it describes the stages"),
    ],
)
def test_a_broken_folder_is_named_and_harms_no_other(tmp_path, toml, steps, why):
    put(tmp_path, toml or "", steps, name="broken")
    if toml is None:
        (tmp_path / "broken" / "stages.toml").unlink()
    put(tmp_path, HEAD + STAGE)
    assert load("ours", [tmp_path]).title == "Ours"
    assert load("record", [tmp_path]).name == "record"
    for _ in range(2):
        [fault] = faults([tmp_path])
        assert str(tmp_path / "broken") in fault.in_full and why in fault.in_full
        assert str(tmp_path) not in str(fault) and f"{tmp_path.name}/broken" in str(fault) and why in str(fault)
        with pytest.raises(RecipeError, match=re.escape(why)):
            load("broken", [tmp_path])


def test_what_comes_with_the_package_stays_what_it_is_beside_a_plug_in_of_its_name(tmp_path):
    put(tmp_path, HEAD + STAGE, name="record")
    assert load("record", [tmp_path]).title == load("record").title
    [fault] = faults([tmp_path])
    assert "has the same name" in str(fault) and str(tmp_path / "record") in fault.in_full


def test_the_package_has_no_broken_folder():
    assert faults() == []


def test_options_are_replaced_only_by_their_like():
    recipe = load("record")
    assert recipe.options_with({"eval_share": 1}) == {**recipe.options, "eval_share": 1}
    assert recipe.options_with({}) == recipe.options
    with pytest.raises(OptionError, match="no option 'share'; it has .*eval_share"):
        recipe.options_with({"share": 0.2})
    with pytest.raises(OptionError, match="between 0 and 1, not 5"):
        load("record").options_with({"eval_share": 5})
    with pytest.raises(OptionError, match="must be like 0.18, not '20 %'"):
        recipe.options_with({"eval_share": "20 %"})
    for name, value, least in (("test_scenarios", -1, 0), ("common_texts", -5, 0), ("most_questions", 0, 1)):
        with pytest.raises(OptionError, match=f"{name} must be {least} or more, not {value}"):
            load("mcscript").options_with({name: value})
    assert load("mcscript").options_with({"test_scenarios": 0})["test_scenarios"] == 0


def test_the_pure_layers_load_without_django_and_boto():
    code = (
        "import sys\n"
        "import hits.stats.blocking, hits.stats.vote_rules.votes\n"
        "import hits.text.figures.squad, hits.text.figures.statistics, hits.text.language.passages\n"
        "assert not {'django', 'boto3', 'socket'} & set(sys.modules), 'not pure'\n"
        # pydantic looks for its plug-ins by the standard library's reader of e-mail, which imports socket.
        "import pydantic.plugin._loader\n"
        "del sys.modules['socket']\n"
        "from hits.recipes import load\n"
        "load('record')\n"
        "assert not {'django', 'boto3', 'socket'} & set(sys.modules), 'not pure'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
