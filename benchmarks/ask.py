"""What `ask` shows: the passage first and among three, the marked sentence, and questions without an answer.

    uv run python benchmarks/ask.py --korquad ../shared/data/korquad_dev.json.xz
    uv run python benchmarks/ask.py --english
    uv run python benchmarks/ask.py --model http://127.0.0.1:8911/v1

All but the last ask without a model. KorQuAD's paragraphs are a file each; 500 questions are each asked with
all of them, and without their own. The English corpus is click's source distribution, documentation and code,
which pip downloads; `ask_click.yaml` has 30 questions with what an answer must contain, and ten that it
does not answer.
A model is asked about short pages: how many of its replies are right, and how many of these are delivered.
Exits with 1 if more than 5 % of the absent questions get "says so", if more than one answer about a project
shows less on a screen than the list of passages.
"""

import argparse
import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import yaml

from coreloop.answer.deps import Deps, open_deps
from coreloop.answer.research.answer import AnswerPassage, shown_passage
from coreloop.answer.research.research_state import Attempt
from coreloop.answer.research.run import answer
from coreloop.answer.research.run_searches import find_sources
from coreloop.answer.research.verify import Grounds, numbered, quoted
from coreloop.answer.search.index.run import index_paths
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.text.terms import search_words
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.ask import LINES_NEAR
from coreloop.cli.excerpt import LINES, excerpt, lines_of
from coreloop.runs.events import StepCommitted
from coreloop.runs.stores.store import open_store

MOST_INVENTED = 0.05
MOST_WORSE = 1
UNDERLINE = re.compile(r"\n([=~^\"*+-])\1{2,}\s*(?:\n|\Z)")
FENCED = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
MARKS = str.maketrans("", "", "»«…")
CLICK = Path(__file__).with_name("ask_click.yaml")


@contextmanager
def opened(folder: Path) -> Iterator[Deps]:
    workspace = open_workspace(folder)
    with open_store(workspace, environ={}) as store, open_deps(workspace, store, {}) as deps:
        yield deps


def shown(deps: Deps, question: str, *, without: str = "") -> Attempt:
    """What `ask` shows, without the record of a run; ``without``: a file that is not in the index."""
    words = " ".join(search_words(question))
    found = find_sources(deps, question, SearchLimits(), words=words)
    sources = [source for source in found.sources if source.location != without]
    grounds = Grounds(question, numbered(sources), workspace=deps.workspace)
    return quoted(Attempt(number=1, model="offline"), grounds)


def count(counts: Counter[str], attempt: Attempt, answers: list[str]) -> None:
    """Count a question that the corpus answers."""
    texts = [
        read.source.text
        for passage in attempt.passages
        for read in attempt.cited
        if read.number == passage.number
    ]
    holds = [any(has(text, part) for part in answers) for text in texts]
    counts["passage first"] += any(holds[:1])
    counts["passage among three"] += any(holds)
    counts[attempt.verdict] += 1
    if attempt.sentences:
        is_right = any(has(attempt.sentences[0], part) for part in answers)
        counts["marked sentence right"] += is_right
        counts[f"right of {attempt.verdict}"] += is_right


def has(text: str, part: str) -> bool:
    part, text = (" ".join(one.replace("`", "").split()).casefold() for one in (part, text))
    return part in text


def korquad(path: Path, n_questions: int) -> bool:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    paragraphs = [
        (article["title"], paragraph) for article in articles for paragraph in article["paragraphs"]
    ]
    questions = [
        (asked["id"], asked["question"], [one["text"] for one in asked["answers"]], f"docs/{place}.md")
        for place, (_, paragraph) in enumerate(paragraphs)
        for asked in paragraph["qas"]
    ]
    questions.sort(key=lambda question: sha256(question[0].encode()).digest())
    here, absent = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        (docs := Path(folder, "docs")).mkdir()
        for place, (title, paragraph) in enumerate(paragraphs):
            text = f"# {title}\n\n{paragraph['context']}\n"
            (docs / f"{place}.md").write_text(text, encoding="utf-8")
        index_paths(open_workspace(Path(folder)), [docs], now=datetime.now(UTC))
        with opened(Path(folder)) as deps:
            for _, question, answers, location in questions[:n_questions]:
                count(here, shown(deps, question), answers)
                absent[shown(deps, question, without=location).verdict] += 1
    return report(here, absent, n_questions, n_questions)


def english(root: Path) -> bool:
    """Ask about a project's files; a search alone for the three best is what `ask` may be worse than once."""
    asked = yaml.safe_load(CLICK.read_text(encoding="utf-8"))
    here, absent, faults = Counter[str](), Counter[str](), dict[str, list[str]]()
    index_paths(open_workspace(root), [root], now=datetime.now(UTC))
    with opened(root) as deps:
        for question, answers in asked["questions"].items():
            attempt = shown(deps, question)
            count(here, attempt, answers)
            show(question, attempt)
            words = " ".join(search_words(question))
            plain = deps.provider.search(words, SearchLimits(max_results=3))
            listed = any(has(one.text, part) for one in getattr(plain, "sources", ()) for part in answers)
            here["search alone: among three"] += listed
            for fault in faults_of(attempt, answers, is_listed=listed):
                faults.setdefault(fault, []).append(question)
        for question in asked["absent"]:
            attempt = shown(deps, question)
            absent[attempt.verdict] += 1
            show(question, attempt)
            for fault in faults_of(attempt, []):
                faults.setdefault(fault, []).append(question)
    for fault, of in faults.items():
        print(f"worse, {fault}: {len(of)} {of}")
    worse = len({question for of in faults.values() for question in of})
    print(f"{asked['project']}; worse than the list of passages: {worse}")
    is_good = worse <= MOST_WORSE
    return report(here, absent, len(asked["questions"]), len(asked["absent"])) and is_good


def faults_of(attempt: Attempt, answers: list[str], *, is_listed: bool = False) -> Iterator[str]:
    """Yield what makes an answer worse than the list of passages, as a person sees it on one screen."""
    whole = [shown_passage(passage, attempt.cited) for passage in attempt.passages]
    is_said = attempt.verdict == "says so"
    is_near = any(passage.end for passage in whole[:1])  # else the screen lists what `search` lists, too
    cuts = [cut.translate(MARKS) for cut in one_screen(whole, LINES if is_near else LINES_NEAR)]
    right = [place for place, passage in enumerate(whole) if any(has(passage.text, part) for part in answers)]
    if len({(passage.location, passage.line) for passage in whole}) < len(whole):
        yield "a passage twice"
    if any(is_heading_marked(passage) for passage in whole):
        yield "a heading marked"
    code = code_of(whole[right[0]].text) if right else []
    if code and not has_any(cuts[right[0]], code):
        yield "an excerpt without its code"
    if is_said and is_listed and not right:
        yield "the passage missing"
    if is_said and right and not any(has_any(cut, answers) for cut in cuts):
        yield "the answer cut off"
    if answers and is_said and not has_any(cuts[0], answers):
        yield "says so, and something else"


def one_screen(passages: Sequence[AnswerPassage], n_lines: int) -> list[str]:
    """Return what a screen shows of each passage."""
    pairs = zip(passages, lines_of(passages, n_lines), strict=True)
    return ["\n".join(excerpt(passage, n_lines)) for passage, n_lines in pairs]


def is_heading_marked(passage: AnswerPassage) -> bool:
    mark, below = passage.text[passage.start : passage.end], passage.text[passage.end :]
    return mark.startswith("#") or (bool(mark) and UNDERLINE.match(below) is not None)


def code_of(text: str) -> list[str]:
    """Return the lines of a text's code in fences and of sessions."""
    fenced = [line for block in FENCED.findall(text) for line in block.splitlines()]
    session = [line for line in text.splitlines() if line.lstrip().startswith((">>> ", "$ "))]
    return [line for line in (*fenced, *session) if line.strip()]


def has_any(text: str, parts: list[str]) -> bool:
    return any(has(text, part) for part in parts)


def show(question: str, attempt: Attempt) -> None:
    print(f"{attempt.verdict:16} {question}\n    {(*attempt.sentences, '-')[0][:160]}")
    print("   ", *(f"{read.source.location}:{read.source.line}" for read in attempt.cited))


def unpacked(folder: Path) -> Path:
    """Download and unpack the corpus; returns its folder."""
    project = yaml.safe_load(CLICK.read_text(encoding="utf-8"))["project"]
    command = ["uv", "run", "--no-project", "--with", "pip", "python", "-m", "pip", "download", "--quiet"]
    options = ["--no-deps", "--no-binary", ":all:", "--dest", str(folder), project]
    subprocess.run([*command, *options], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


PAGES = {
    "uploads": "The upload limit is 25 MB for a file. Larger files are sent in parts of 5 MB.",
    "retries": "A failed delivery is tried seven times, an hour apart. Then the message is dropped.",
    "museum": "The museum is open from Tuesday to Sunday. It is closed on Mondays.",
    "refunds": "A refund reaches the customer within 14 days. Vouchers are refunded at once.",
    "river": "The Han river is 494 kilometres long. It flows into the Yellow Sea.",
    "keys": "An API key expires after 90 days. The owner gets a mail ten days before.",
    "bridge": "The Banpo bridge was opened in 1982. Its fountain was added in 2009.",
    "roles": "Only administrators can delete a project. Editors can archive it.",
    "backup": "Run shopctl backup --to FOLDER to make a backup. It takes about three minutes.",
    "tea": "Green tea from Boseong is harvested in April. The leaves are steamed.",
}
ASKED = [
    ("How large may an uploaded file be?", "25 MB"),
    ("How often is a failed delivery tried again?", "seven"),
    ("On which day is the museum closed?", "Monday"),
    ("Within how many days does a refund reach the customer?", "14"),
    ("How long is the Han river?", "494"),
    ("After how many days does an API key expire?", "90"),
    ("When was the Banpo bridge opened?", "1982"),
    ("Who can delete a project?", "administrators"),
    ("How do I make a backup?", "shopctl backup"),
    ("When is green tea from Boseong harvested?", "April"),
    ("What does a licence cost?", ""),
    ("Who designed the Banpo bridge?", ""),
    ("Which port does the server use?", ""),
]


def of_model(url: str) -> bool:
    """Ask a real model: right replies, those of them that are delivered, and what is delivered of nothing."""
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        (docs := Path(folder, "docs")).mkdir()
        for name, text in PAGES.items():
            (docs / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")
        settings = {"model": "local:small", "endpoints": {"local": {"url": url}}}
        Path(folder, "coreloop.yaml").write_text(json.dumps(settings), encoding="utf-8")
        with opened(Path(folder)) as deps:
            for question, part in ASKED:
                found = answer(question, deps=deps)
                written = [
                    event.result["value"]["answer"]
                    for _, event in deps.store.read(found.run_id)
                    if isinstance(event, StepCommitted) and event.name.startswith("ask ")
                ]
                print(f"{found.end:16} {question} {written} -> {found.final_answer!r}")
                counts["raw right"] += bool(part) and any(has(text, part) for text in written)
                counts["delivered right"] += bool(part) and found.supported and has(found.final_answer, part)
                counts["delivered wrong"] += found.supported and not (part and has(found.final_answer, part))
    print(dict(counts))
    return counts["delivered right"] >= counts["raw right"] - 1 and not counts["delivered wrong"]


def report(here: Counter[str], absent: Counter[str], n_here: int, n_absent: int) -> bool:
    print(f"with an answer ({n_here}): {dict(here)}")
    print(f"without ({n_absent}): {dict(absent)}")
    return absent["says so"] <= MOST_INVENTED * n_absent


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--korquad", type=Path)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--english", action="store_true")
    parser.add_argument("--model", metavar="URL", help="OpenAI-compatible address of a model")
    options = parser.parse_args()
    is_good = True
    if options.korquad:
        is_good &= korquad(options.korquad, options.questions)
    if options.english:
        with tempfile.TemporaryDirectory() as folder:
            is_good &= english(unpacked(Path(folder)))
    if options.model:
        is_good &= of_model(options.model)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
