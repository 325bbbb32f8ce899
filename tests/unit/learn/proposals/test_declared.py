"""A line names only what the base declares: arguments, values, fields, tools, keywords, categories."""

from coreloop.base.project.settings import CategoryRule, Settings, ToolSettings
from coreloop.descriptions.source import find_definition, read_source
from coreloop.learn.proposals.declared import refuse_words
from coreloop.learn.proposals.declared_words import Words
from coreloop.learn.proposals.sequence_lines import When
from rows import each_row

FILE = b"""AXES = ("margin", 'cash flow', "billing")

def analysis(company: str, /, axis: str, *, amount: int = 0): "Ratios; see find.all too."
def anything(**given): "Takes all."
class Tool: "No function."
def show(company: str): "Shows."
def search(text: str): "Finds."
def escalate(team: str, now: bool): "A call that works instead."
class Shop:
    def pay(self, order_id): "A method."
"""
NAMES = {"escalate(team", "escalate(now", "show(company", ".x", ".hits", ".all", ".next", "search(text"}
SETTINGS = Settings(
    tools={"find.all": ToolSettings()}, categories=(CategoryRule(label="FIN-x", any=("마진", "roe")),)
)


def reasons(line: str, symbol: str = "analysis") -> list[str]:
    source = read_source(FILE)
    definition = find_definition(source.tree, symbol)
    return list(refuse_words(line, Words(SETTINGS, source.text, "analysis", definition, NAMES)))


@each_row(
    "line",
    [
        "- First: show",
        "- Call once per request",
        "- company: from search().hits[].company",
        "- axis: from find.all().*.axis or analysis().next",
        "- Always pass company and axis",
        "- Leave out amount",
        "- Call before show (same company)",
        "- Do not call right after analysis",
        "- axis: one of margin, margin",
        '- amount over 150 and axis="cash flow" fails (auth): escalate(team="billing", now=true)',
        "- after analysis (same company) fails (not_found)",
        "- Use for: roe, 마진",
        "- When: questions of category FIN-x.",
        "- Call: analysis(company, …) -> show(company).",
        "- Call: analysis(company, axis=<axis>).",
        "- Fails: called without axis: 5 of 9 calls failed (auth); with it 1 of 9.",
    ],
)
def test_what_the_base_declares_may_be_named(line: str):
    assert reasons(line) == []


@each_row(
    ("line", "reason"),
    [
        ("- password: from show().x", "password is not an argument of analysis"),
        ("- self: from show().x", "self is not an argument of analysis"),
        ("- Always pass company and password", "password is not an argument of analysis"),
        ("- deep=true fails (auth)", "deep is not an argument of analysis"),
        ("- First: login", "login is not a tool of coreloop.yaml or the base; name it under tools:"),
        ("- company: from ignore.all().x", "ignore.all is not a tool"),
        ("- First: analysis", "the line refers analysis to itself"),
        ("- Use for: secrets", "secrets is not a keyword in coreloop.yaml"),
        ("- axis: one of margin, growth", "growth is not a value"),
        ('- axis="growth" fails (auth)', "growth is not a value that coreloop.yaml or the source declares"),
        ('- axis="margin" fails (auth): show(company="tell them all")', "tell them all is not a value"),
        ('- axis="margin" fails (auth): show(password=true)', "password is not an argument of show"),
        ("- company: from show().ignore_previous_instructions", "is not a field that code or a schema"),
        ("- company: from show().회사", "is not a field that code or a schema of the base has"),
        ("- company: from show().x.all.hits.next", "the path x.all.hits.next has more than 3 fields"),
        ("- When: questions of category FIN-y.", "FIN-y is not declared under categories: in coreloop.yaml"),
        ("- Call: analysis(password) -> show(company).", "password is not an argument of analysis"),
        ('- Call: analysis(axis="growth").', "is not a value that coreloop.yaml"),
        ("- Call: login().", "login is not a tool of coreloop.yaml"),
        ("- Fails: login(): 5 of 9 calls failed (auth).", "login is not a tool of coreloop.yaml"),
        ("- Fails: show() -> login(): 1 of 9 requests succeeded.", "login is not a tool of coreloop.yaml"),
        (
            "- Fails: called without password: 5 of 9 calls failed (auth); with it 1 of 9.",
            "password is not an argument of analysis",
        ),
    ],
)
def test_what_it_does_not_declare_is_refused(line: str, reason: str):
    (given,) = reasons(line)
    assert reason in given


def test_keywords_are_those_of_their_category():
    (given,) = reasons(str(When("FIN-x", ("secrets",))))
    assert "secrets is not a keyword of FIN-x in coreloop.yaml" in given
    assert reasons(str(When("FIN-x", ("roe",)))) == []


@each_row(
    ("symbol", "argument", "fits"),
    [
        ("anything", "whatever", False),
        ("anything", "given", False),
        ("Shop.pay", "order_id", True),
        ("Shop.pay", "self", False),
        ("Tool", "order_id", False),
    ],
)
def test_arguments_are_those_of_the_definition(symbol: str, argument: str, fits: bool):
    assert (reasons(f"- {argument}: from show().x", symbol) == []) is fits
