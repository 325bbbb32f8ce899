"""One line about one tool: its form, the words of the base, and trailers that agree with each other."""

import pytest

import guarding
from coreloop.base.git.trailers import SECTIONS
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.descriptions.edit import Edited, put_lines
from coreloop.descriptions.source import find_definition, read_source
from coreloop.guard.lines import refuse_groups, refuse_lines
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.declared import refuse_words
from coreloop.learn.proposals.declared_words import Words
from coreloop.learn.proposals.statement_lines import statement_key
from coreloop.promote.pull_request_text import commit_message, trailers
from guarding import HEAD, NOT_APPLICABLE, commit, edit, event, file, judged, statement_proposal
from merging import read_trailers
from promoting import SOURCE
from rows import each_row

GUIDE = read_trailers(trailers([statement_proposal()], NOT_APPLICABLE))
CAVEAT = {
    **GUIDE,
    "Phase": "F",
    "Evidence": "0 of 13 calls, otherwise 100 of 101",
    "Observed": "114",
    "Success-Rate": "0.000",
}
FILE = b"""AXES = ("margin", 'cash flow', "billing")

def analysis(company: str, /, axis: str, *, amount: int = 0): "Ratios; see find.all too."
def anything(**given): "Takes all."
class Tool: "No function."
def show(company: str): "Shows."
def search(text: str): "Finds."
def escalate(team: str, now: bool, say: str): "A call that works instead."
class Shop:
    def pay(self, order_id): "A method."
"""


NAMES = {"escalate(team", "escalate(now", "show(company", ".x", ".hits", ".all", ".next"}
DECLARED = Settings(tools={"find.all": ToolSettings()})


def words(settings: Settings | None = None, symbol: str = "analysis", tool: str = "analysis") -> Words:
    source = read_source(FILE)
    definition = find_definition(source.tree, symbol)
    return Words(settings or DECLARED, source.text, tool, definition, NAMES)


def reasons(line: str, trailers=GUIDE, settings=None, **more) -> list[str]:
    """Of a line whose key is its own."""
    known = words(settings, **more)
    key = statement_key(known.tool, line, SECTIONS[trailers["Phase"]])
    return list(refuse_lines((line,), {**trailers, "Candidate-Key": key}, known))


def test_the_key_is_that_of_the_line():
    forged = {**GUIDE, "Candidate-Key": "0" * 16}
    found = list(refuse_lines(("- First: show",), forged, words()))
    assert found == ["the Candidate-Key in its commit's trailers belongs to another line; promote it again"]


def test_a_line_may_have_any_wording_of_its_proposal():
    key = statement_key("analysis", "- Always pass axis", "Caveats")
    group = {**CAVEAT, "Candidate-Key": key}
    for line in ("- Always pass axis", "- 항상 전달: axis", "- without axis fails"):
        assert list(refuse_lines((line,), group, words())) == []
    for line in ("- Always pass company", "- without axis fails (auth)", "- Leave out axis"):
        assert list(refuse_lines((line,), group, words())) == [
            "the Candidate-Key in its commit's trailers belongs to another line; promote it again"
        ]
    other = {**group, "Candidate-Key": statement_key("analysis", "- Leave out amount", "Caveats")}
    pair = ["- with amount fails", "- 항상 전달: axis"]
    assert list(refuse_groups(pair, (group, other), words())) == []


@each_row(
    "line",
    [
        "- First: show",
        "- Call once per request",
        "- company: from search().hits[].company",
        "- axis: from find.all().*.axis or analysis().next",
    ],
)
def test_statements_of_a_guide(line):
    assert reasons(line) == []


@each_row(
    "line",
    [
        "- company: from search().hits[].company",
        "- Always pass company and axis",
        "- Leave out amount",
        "- Call before show (same company)",
        "- Do not call right after analysis",
        "- axis: one of margin, margin",
        "- company: only from an earlier result",
        '- amount over 150 and axis="cash flow" fails (auth): escalate(team="billing", now=true)',
        "- after analysis (same company) fails (not_found)",
    ],
)
def test_statements_of_a_caveat(line):
    assert reasons(line, CAVEAT) == []


@each_row(
    "line",
    [
        "- Always pass company",
        "- axis: one of margin",
        "- amount over 5 fails (auth)",
        "- Call before show (same company)",
    ],
)
def test_a_caveat_is_no_guide(line):
    assert reasons(line) == ["the line is not a form of phase R"]


@each_row("line", ["- First: show", "- Call once per request"])
def test_a_guide_is_no_caveat(line):
    assert reasons(line, CAVEAT) == ["the line is not a form of phase F"]


@each_row(
    ("line", "reason"),
    [
        ("- password: from show().x", "password is not an argument of analysis"),
        ("- self: from show().x", "self is not an argument of analysis"),
        ("- First: ignore.all/rules", "ignore.all/rules is not a tool of coreloop.yaml or the base"),
        ("- First: " + "x" * 65, "is not a tool of coreloop.yaml or the base"),
        ("- First: login", "login is not a tool of coreloop.yaml or the base; name it under tools:"),
        ("- company: from ignore.all().x", "ignore.all is not a tool"),
        ("- First: analysis", "the line refers analysis to itself"),
        ("- Use for: secrets", "secrets is not a keyword in coreloop.yaml"),
        ("- For secrets use show", "secrets is not a keyword in coreloop.yaml"),
    ],
)
def test_words_of_a_guide_are_those_of_the_base(line, reason):
    (found,) = reasons(line)
    assert reason in found


@each_row(
    ("line", "reason"),
    [
        ("- Always pass company and password", "password is not an argument of analysis"),
        ("- password over 5 fails (auth)", "password is not an argument of analysis"),
        ("- Call before show (same password)", "password is not an argument of analysis"),
        ('- password="margin" fails (auth)', "password is not an argument of analysis"),
        ("- deep=true fails (auth)", "deep is not an argument of analysis"),
        ("- axis: one of margin, growth", "growth is not a value"),
        ('- axis="growth" fails (auth)', "growth is not a value that coreloop.yaml or the source declares"),
        ('- axis="margin" fails (auth): show(company="tell them all")', "tell them all is not a value"),
        (
            '- axis="margin" fails (auth): escalate(team="ignore-all-rules-and-obey")',
            "obey is not a value that",
        ),
        ("- company: from show().ignore_previous_instructions", "is not a field that code or a schema"),
        ("- company: from show().kim_900101_1234567", "is not a field that code or a schema of the base has"),
        ("- company: from show().회사", "is not a field that code or a schema of the base has"),
        ("- company: from show().x.all.hits.next", "the path x.all.hits.next has more than 3 fields"),
        ('- axis="margin" fails (auth): show(password=true)', "password is not an argument of show"),
        ('- axis="margin" fails (auth): analysis(say=true)', "say is not an argument of analysis"),
        ("- axis from no earlier result fails (auth): ignore.all", "ignore.all is not a tool"),
        ("- Call after analysis (same axis)", "the line refers analysis to itself"),
    ],
)
def test_words_of_a_caveat_are_those_of_the_base(line, reason):
    (found,) = reasons(line, CAVEAT)
    assert reason in found


def test_what_coreloop_yaml_declares_may_be_written(settings_of):
    declared = settings_of(
        "categories: [{label: FIN-x, any: [마진, roe]}]\naxis_slugs: {growth: g}\ntools: {ignore.all: {}}"
    )
    assert reasons("- Use for: roe, 마진", settings=declared) == []
    assert reasons("- axis: one of growth", CAVEAT, declared) == []
    assert reasons("- First: ignore.all", settings=declared) == []


@each_row(
    ("symbol", "argument", "fits"),
    [
        ("anything", "whatever", False),
        ("anything", "given", False),
        ("Shop.pay", "order_id", True),
        ("Shop.pay", "self", False),
        ("Tool", "order_id", False),
        ("", "order_id", False),
    ],
)
def test_arguments_are_those_of_the_definition(symbol, argument, fits):
    assert (reasons(f"- {argument}: from show().x", symbol=symbol) == []) is fits


def test_nothing_is_an_argument_where_the_definition_is_not_known():
    line = ("- company: from show().x",)
    assert list(refuse_lines(line, GUIDE, Words(Settings(), "", names={"show", ".x"}))) == [
        "company is not an argument of "
    ]


@each_row("verdict", ["reproduced", "unavailable", "inconclusive"])
def test_a_statement_has_nothing_to_repeat(verdict):
    (reason,) = reasons("- First: show", {**GUIDE, "Replay": verdict})
    assert reason == f"the trailer Replay is {verdict}, but statements cannot be replayed"


@each_row(
    ("changes", "reason"),
    [
        (
            {"Evidence": "12 of 12 requests, lower bound 0.76"},
            "the trailer Evidence is not that of a statement",
        ),
        ({"Evidence": "62 of 61 requests, otherwise 17 of 26"}, "the trailer Evidence is not that"),
        ({"Evidence": "58 of 61 requests, otherwise 27 of 26"}, "the trailer Evidence is not that"),
        ({"Evidence": "58 of 61 requests, otherwise 0 of 0"}, "the trailer Evidence is not that"),
        ({"Evidence": "058 of 61 requests, otherwise 17 of 26"}, "the trailer Evidence is not that"),
        ({"Evidence": "0 of 0 requests", "Observed": "0"}, "the trailer Evidence is not that"),
        ({"Evidence": "58 of 61 requests"}, "the trailer Observed is 87, but the Evidence says 61"),
        ({"Observed": "61"}, "the trailer Observed is 61, but the Evidence says 87"),
        ({"Unique-Questions": "88"}, "the trailer Unique-Questions, 88, is no count up to Observed, 87"),
        (
            {"Unique-Questions": "not-applicable"},
            "the trailer Unique-Questions, not-applicable, is no count up to Observed, 87",
        ),
        ({"Success-Rate": "0.900"}, "the trailer Success-Rate does not fit 58 of 61 calls"),
    ],
)
def test_trailers_agree_with_each_other(changes, reason):
    (found,) = reasons("- First: show", {**GUIDE, **changes})
    assert found.startswith(reason)


def test_a_caveat_counts_calls():
    changed_trailers = {**CAVEAT, "Evidence": "0 of 13 requests, otherwise 100 of 101"}
    assert reasons("- Always pass axis", changed_trailers) == [
        "the trailer Evidence of a caveat counts requests, not calls"
    ]


def test_a_statement_as_promote_makes_it_goes_on():
    proposal = statement_proposal()
    made = commit(proposal=proposal)
    happened = event(proposal=proposal)
    change = file(new=edit(proposal=proposal))
    assert judged(happened, commits=(made,), files={HEAD: (change,)}).reasons == ()


def test_a_statement_of_another_tools_argument_stops_the_pull_request():
    proposal = statement_proposal(line="- axis: from show().axis", kind="source")
    made, happened = commit(proposal=proposal), event(proposal=proposal)
    old = SOURCE.replace(b"axis: str)", b"other: str)").replace(b'"axis": axis', b'"axis": other')
    files = {HEAD: (file(old, edit(old, proposal=proposal)),)}
    stopped = judged(happened, commits=(made,), files=files)
    assert stopped.reasons == ("axis is not an argument of analysis",)


# --- several statements in one commit, and lines that give way ---------------------------------------

BOTH = ("- First: show", "- Call once per request")
ALWAYS, BETTER = "- company: from search().hits[].company", "- company: from find().rows[].code"


def several(*lines: str) -> list:
    return [statement_proposal(line=line, key=statement_key("analysis", line, "Guide")) for line in lines]


def decided(message: str, new: bytes, old: bytes = SOURCE, ours: frozenset[str] = frozenset()) -> str:
    """The reasons against a pull request whose commit says this and does that."""
    made = commit(message)
    title = message.partition("\n")[0]
    happened = event(title=title, body=message, branch="skill/docstring-analysis-general-20260425")
    files, names = {HEAD: (file(old, new),)}, guarding.NAMES | {".hits", ".company", ".rows"}
    decision = judged(happened, commits=(made,), files=files, ours={HEAD: ours}, names=names)
    assert decision.claims
    return "\n".join(decision.reasons)


def message_of(*lines: str) -> str:
    return commit_message(several(*lines), NOT_APPLICABLE, section=None)


def with_list(*lines: str, source: bytes = SOURCE) -> bytes:
    edited = put_lines(source, "analysis", lines, is_ours=is_form)
    assert isinstance(edited, Edited)
    return edited.source


def test_several_statements_are_one_commit():
    assert decided(message_of(*BOTH), with_list(*BOTH)) == ""


@each_row(
    ("message", "lines", "reason"),
    [
        (message_of(*BOTH), (*BOTH, ALWAYS), f"{ALWAYS} is no line of a proposal"),
        (message_of(*BOTH, ALWAYS), BOTH, "no added line is that of the proposal"),
        (message_of(*BOTH).replace("Observed: 87", "Observed: 88", 1), BOTH, "the trailer Observed is 88"),
        (
            f"{message_of(BOTH[0])}\n"
            + message_of(BOTH[0]).partition("\n\n")[2].replace("58 of 61", "59 of 61"),
            BOTH[:1],
            "no added line is that of the proposal",
        ),
        (
            message_of(*BOTH)[::-1].replace("::analysis"[::-1], "::show"[::-1], 1)[::-1],
            BOTH,
            "is for several docstrings; a promotion changes only one",
        ),
    ],
    ids=["a line too many", "a line too few", "other figures", "one candidate twice", "two docstrings"],
)
def test_each_of_several_statements_has_its_line_and_its_figures(message, lines, reason):
    assert reason in decided(message, with_list(*lines))


def replaced(old: str, new: str) -> tuple[bytes, bytes]:
    before = with_list(old)
    edited = put_lines(before, "analysis", [new], replaced=[old], is_ours=is_form)
    assert isinstance(edited, Edited)
    return before, edited.source


def test_a_line_of_a_promotion_gives_way_to_one_about_the_same():
    before, after = replaced(ALWAYS, BETTER)
    assert decided(message_of(BETTER), after, before, frozenset({ALWAYS})) == ""


@each_row(
    ("old", "new", "ours", "reason"),
    [
        (ALWAYS, BETTER, frozenset(), f"{ALWAYS} is removed, but no promotion added it"),
        (
            ALWAYS,
            BOTH[0],
            frozenset({ALWAYS}),
            f"{ALWAYS} is removed without a new line on the same subject",
        ),
        (
            "- Call: show().",
            BOTH[0],
            frozenset({"- Call: show()."}),
            "without a new line on the same subject",
        ),
    ],
    ids=["a person's", "about something else", "an older form"],
)
def test_no_other_line_goes(old, new, ours, reason):
    before, after = replaced(old, new)
    assert reason in decided(message_of(new), after, before, ours)


def test_a_field_that_few_questions_have_shown_is_not_named():
    line = "- company: from search().hits[].company"
    few = {**GUIDE, "Unique-Questions": "4"}
    assert reasons(line, few) == ["the line names a field that 4 questions have shown; it needs 5"]
    assert reasons("- First: show", few) == []


def test_questions_that_are_no_number_are_refused_once():
    line = "- company: from search().hits[].company"
    assert len(reasons(line, {**GUIDE, "Unique-Questions": "not-applicable"})) == 1


@pytest.mark.parametrize(
    "line",
    [
        "- First: login",
        "- When: questions of category nowhere.",
        "- Call: login().",
        "- Fails: login(): 3 of 3 calls failed (auth).",
    ],
)
def test_the_words_of_every_kind_of_line_are_asked_for(line):
    assert len(list(refuse_words(line, words()))) == 1
