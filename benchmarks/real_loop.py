"""The slow loop with a real model: record, refine, measure, promote, merge, ask anew, effect.

uv run python benchmarks/real_loop.py courier --seed 1 --folder FOLDER --url http://127.0.0.1:9001/v1

An office (`benchmarks/offices`) has eleven tools: eight with a rule that their docstrings leave out, and
three controls that fail by nature. A model works its service desk; nothing is scripted but the questions.
Arms: `before` (160 requests on 28 simulated days), `after` (176 fresh ones with the merged lines), `without`
(the same 176 and seeds, old docstrings), and, first calls only, `placebo` (as many letters that say nothing),
`meanings` (each value with a word for it), `bound 1` to 3 (other wordings of a bound).

Each reply is kept in FOLDER/replies.jsonl by what was asked: a run that was stopped goes on, and figures are
counted again without a model; so are those of the runs in `benchmarks/offices/replies`, without --url.
`--pool FOLDER…` adds up runs. Several addresses share the work.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from random import Random
from threading import Lock
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request as Post
from urllib.request import urlopen

import yaml

from coreloop import AuditCollector, observed_tool
from coreloop.promote.measure.measurement import Pair, compare_pairs

OFFICES: Final = Path(__file__).parent / "offices"
FIRST: Final = {"before": datetime(2026, 1, 5, 8, tzinfo=UTC), "after": datetime(2026, 2, 3, 8, tzinfo=UTC)}
MERGED: Final = "2026-02-02T12:00:00+00:00"
DAYS: Final = 28
NOBODY: Final = "http://127.0.0.1:9/v1"  # where no --url is given, since every reply is kept
PLAN: Final = {"before": (14, 16), "after": (16, 16)}
"""Requests about each tool with a rule, and about each control."""
NEEDS: Final = (True, True, False)
"""Two of three questions say it in other words than the tool takes: the same share in every arm."""
MOST_CALLS: Final = 3
_HELLO: Final = ("", "", "Hi, ", "Hello, ", "Quick one: ", "Good morning. ")
_FILLER: Final = "for this tool the request of the colleague says what is wanted, and it is done as it says; "
_VALUES: Final = re.compile(r"(\w+): one of ([^\n]+)")
_BOUND: Final = re.compile(r"(\w+): at (?:most|least) ([\d.]+)")
_BOUNDS: Final = (
    "never pass {name} beyond {value}; where more is asked for, pass {value}",
    "{name}: the limit is {value}; use {value} where the request goes beyond it",
    "If the request goes beyond {value}, call with {name}={value}. Example: {name}={value}",
)
SCHEMA: Final = '''\
"""What the model receives of each tool."""

import inspect
import json

from desk.tools import TOOLS

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema(tool) -> dict:
    parameters = inspect.signature(tool).parameters.values()
    properties = {item.name: {"type": TYPES[item.annotation]} for item in parameters}
    required = [item.name for item in parameters if item.default is item.empty]
    about = {"type": "object", "properties": properties, "required": required}
    return {"name": tool.__name__, "description": inspect.getdoc(tool), "parameters": about}


if __name__ == "__main__":
    print(json.dumps([schema(tool) for tool in TOOLS]))
'''
SETTINGS: Final = (
    "reach: {command: [python, -m, desk.schema]}\nendpoints: {local: {url: '{CORELOOP_LOCAL_URL}'}}\n"
)
Tools = Sequence[dict[str, Any]]
Row = Mapping[str, Any]
_PAIRED: Final = ("before", "after", "without")
ARMS: Final = ("placebo", "meanings", "bound 1", "bound 2", "bound 3")


@dataclass(frozen=True)
class Question:
    """A question about a tool, the arguments that are right, and whether a line is needed to know them."""

    index: int
    day: int
    tool: str
    text: str
    right: Mapping[str, Any]
    present: Sequence[str]
    absent: Sequence[str]
    needs: bool
    ways: Mapping[str, str]

    def is_right(self, name: str, args: Mapping[str, Any]) -> bool:
        """Whether a call that worked does what was asked."""
        given = all(args.get(item) not in (None, "") for item in self.present)
        spared = all(args.get(item) in (None, "") for item in self.absent)
        same = all(_same(args.get(item), value) for item, value in self.right.items())
        return name == self.tool and given and spared and same


def _same(one: Any, other: Any) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return str(one) == str(other)


class Office:
    """The tools of a business, and questions about them."""

    def __init__(self, name: str) -> None:
        self.source = (OFFICES / f"{name}.py").read_text("utf-8")
        about = yaml.safe_load((OFFICES / f"{name}.yaml").read_text("utf-8"))
        self.desk, self.today, self.kinds = about["desk"], about["today"], about["questions"]
        self.first = frozenset(about.get("before", ()))
        self.controls = list(self.kinds)[8:]

    def load(self) -> dict[str, Callable[..., Any]]:
        """The tools in a new state."""
        names: dict[str, Any] = {"__name__": "office"}
        exec(self.source, names)
        return {tool.__name__: tool for tool in names["TOOLS"]}

    def questions(self, arm: str, seed: int) -> list[Question]:
        """The questions of an arm in mixed order, no two alike."""
        random, made, seen = Random(f"{arm} {seed}"), [], set[str]()
        for number, tool in enumerate(self.kinds):
            n_made, n_wanted = 0, PLAN[arm][tool in self.controls]
            while n_made < n_wanted:
                question = self._question(tool, random, needs=NEEDS[n_made % len(NEEDS)])
                if question.text not in seen:
                    seen.add(question.text)
                    made.append(replace(question, day=(n_made * DAYS // n_wanted + number) % DAYS))
                    n_made += 1
        random.shuffle(made)
        return [replace(question, index=index) for index, question in enumerate(made)]

    def _question(self, tool: str, random: Random, *, needs: bool) -> Question:
        kind = self.kinds[tool]
        values, ways = {}, {}
        for slot, choices in kind["slots"].items():
            value, way = _choose(choices, random, needs=needs)
            digits = [str(random.randrange(10)) for _ in range(str(value).count("#"))]
            values[slot], ways[slot] = (_filled(text, digits) for text in (value, way))
        text = random.choice(kind["ask"]).format(**ways)
        hello = random.choice(_HELLO)
        text = hello + (text if hello.endswith((", ", ": ")) else text[0].upper() + text[1:])
        right = {name: values[name] for name in kind.get("right", ())}
        told = any(str(values[name]) != str(ways[name]) for name in right)
        given, spared = kind.get("present", ()), kind.get("absent", ())
        is_needed = tool not in self.controls and (told or kind.get("needs") == "always")
        return Question(0, 0, tool, text, right, given, spared, is_needed, ways)


def _choose(choices: Any, random: Random, *, needs: bool) -> tuple[Any, Any]:
    if not isinstance(choices, dict):
        value = random.choice(choices)
        return value, value
    pairs = [(value, way) for value, ways in choices.items() for way in ways]
    wanted = [(value, way) for value, way in pairs if (str(value) != str(way)) is needs]
    return random.choice(wanted or pairs)


def _filled(text: Any, digits: Sequence[str]) -> Any:
    if "#" not in str(text):
        return text
    remaining = iter(digits)
    return re.sub("#", lambda _: next(remaining), str(text))


class Model:
    """A model behind OpenAI-compatible addresses; each reply is kept by what was asked."""

    def __init__(self, urls: Sequence[str], kept: Path) -> None:
        self.urls, self.kept, self.lock = SimpleQueue[str](), kept, Lock()
        for url in urls or [NOBODY]:
            self.urls.put(url)
        self.n_addresses = max(1, len(urls))
        rows = map(json.loads, kept.read_text("utf-8").splitlines() if kept.exists() else ())
        self.known = {row["key"]: row for row in rows}

    @contextmanager
    def address(self) -> Iterator[str]:
        """An address that nobody else uses meanwhile."""
        url = self.urls.get()
        try:
            yield url
        finally:
            self.urls.put(url)

    def reply(self, messages: Sequence[Mapping[str, str]], schema: Any, seed: int) -> dict[str, Any]:
        """The text of a reply and its tokens."""
        key = sha256(json.dumps([messages, seed]).encode()).hexdigest()[:16]
        if key not in self.known:
            row: dict[str, Any] = {"key": key, **self._ask(messages, schema, seed)}
            with self.lock, self.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                self.known[key] = row
        kept: dict[str, Any] = self.known[key]
        return kept

    def _ask(self, messages: Sequence[Mapping[str, str]], schema: Any, seed: int) -> dict[str, Any]:
        body = {"messages": messages, "temperature": 0.7, "top_p": 0.95, "seed": seed, "max_tokens": 120}
        restricted = {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
        asked = json.dumps({**body, "cache_prompt": True, "response_format": restricted}).encode()
        with self.address() as url:
            post = Post(f"{url}/chat/completions", asked, {"content-type": "application/json"})
            try:
                answer: dict[str, Any] = json.load(urlopen(post, timeout=600))
            except URLError as error:
                raise SystemExit(f"{url}: {error.reason}; give --url if a reply is not kept") from error
        used = answer["usage"]
        text = answer["choices"][0]["message"]["content"]
        return {"text": text, "in": used["prompt_tokens"], "out": used["completion_tokens"]}


def reply_schema(tools: Tools) -> dict[str, Any]:
    """The replies that the model may write: a call with the arguments' types, or that it is done."""

    def form(**properties: Any) -> dict[str, Any]:
        closed = {"type": "object", "additionalProperties": False}
        return {**closed, "properties": properties, "required": list(properties)}

    strict = {tool["name"]: {**tool["parameters"], "additionalProperties": False} for tool in tools}
    calls = [form(tool={"const": name}, args=args) for name, args in strict.items()]
    return {"anyOf": [*calls, form(done={"const": True})]}


class Loop:
    """One run in a folder: the project, its arms, and the table."""

    def __init__(self, office: str, seed: int, folder: Path, urls: Sequence[str], *, measures: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        replies = OFFICES / "replies" / f"{office}-{seed}.tar.xz"
        if replies.exists() and not (folder / "replies.jsonl").exists():
            shutil.unpack_archive(replies, folder)
        self.office, self.seed, self.measures = Office(office), seed, measures
        self.model, self.folder = Model(urls, folder / "replies.jsonl"), folder
        self.project, self.began = folder / "project", time.monotonic()
        self.rows: list[Row] = []

    def run(self) -> None:
        """The whole loop, from an empty project to the table."""
        self.make_project()
        base = self.tools()
        self.schema = reply_schema(base)
        questions = {arm: self.office.questions(arm, self.seed) for arm in PLAN}
        self.ask("before", questions["before"], base)
        self.coreloop("refine", "--since", "2026-01-05", "--until", "2026-02-01")
        proposals = self.proposals()
        measured = self.measure(proposals) if self.measures else {}
        for tool in proposals:
            self.promote(tool)
        edited = self.tools()
        self.ask("after", questions["after"], edited)
        self.ask("without", questions["after"], base)
        before = {tool["name"]: tool["description"] for tool in base}
        lines = {new["name"]: new["description"].removeprefix(before[new["name"]]).strip() for new in edited}
        slots = {name: self.office.kinds[name]["slots"] for name in lines}
        texts = {name: other_words(line, slots[name]) for name, line in lines.items() if line}
        for arm in ARMS:
            changed = {name: others[arm] for name, others in texts.items() if arm in others}
            about = [item for item in questions["after"] if item.tool in changed]
            if arm == "meanings":  # not those that are asked with the very word that is given
                given = {
                    name: {*chain(*map(dict.values, map(meanings, slots[name].values())))} for name in changed
                }
                about = [item for item in about if not given[item.tool] & set(map(str, item.ways.values()))]
            pairs = zip(base, edited, strict=True)
            self.ask(
                arm, about, [described(old, changed.get(old["name"])) or new for old, new in pairs], most=1
            )
        effects = json.loads(self.coreloop("effect", "--json"))
        result = {
            "lines": {name: line for name, line in lines.items() if line},
            "controls": [name for name in self.office.controls if not lines[name]],
            "measured": measured,
            "effects": effects,
            "rows": self.rows,
        }
        (self.folder / "result.json").write_text(json.dumps(result, ensure_ascii=False), "utf-8")
        print("\n".join(table([result])))

    def make_project(self) -> None:
        """A project of the office's tools, with a bare repository as its remote."""
        for made in (self.project, self.folder / "remote.git"):
            shutil.rmtree(made, ignore_errors=True)
        desk = self.project / "desk"
        desk.mkdir(parents=True)
        (desk / "tools.py").write_text(self.office.source, "utf-8")
        (desk / "schema.py").write_text(SCHEMA, "utf-8")
        (self.project / "coreloop.yaml").write_text(SETTINGS, "utf-8")
        (self.project / ".gitignore").write_text("data/\n", "utf-8")
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.folder / "remote.git"], check=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Robin")
        self.git("config", "user.email", "robin@example.com")
        self.git("remote", "add", "origin", str(self.folder / "remote.git"))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "The desk", at="2026-01-01T12:00:00+00:00")
        self.git("push", "-q", "-u", "origin", "main")

    def git(self, *arguments: str, at: str = MERGED) -> str:
        """Run git in the project."""
        return self.run_command(["git", *arguments], {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at})

    def coreloop(self, *arguments: str, url: str = "", accepts: Sequence[int] = (0,)) -> str:
        """Run a command of coreloop in the project, as a user would."""
        environ = {"CORELOOP_MODEL": "local:model", "CORELOOP_LOCAL_URL": url}
        environ |= {"GIT_AUTHOR_DATE": MERGED, "GIT_COMMITTER_DATE": MERGED}
        return self.run_command([sys.executable, "-m", "coreloop", *arguments], environ, accepts)

    def run_command(
        self, command: list[str], environ: Mapping[str, str], accepts: Sequence[int] = (0,)
    ) -> str:
        """Run a command in the project, and keep what it printed."""
        ended = subprocess.run(
            command,
            cwd=self.project,
            env={**os.environ, **environ},
            check=False,
            capture_output=True,
            text=True,
        )
        self.log(f"$ {' '.join(command)}\n{ended.stdout}{ended.stderr}")
        if ended.returncode not in accepts:
            raise SystemExit(f"{' '.join(command)}: {ended.stderr or ended.stdout}")
        return ended.stdout.strip()

    def log(self, text: str) -> None:
        """Keep what a run did."""
        with (self.folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"[{time.monotonic() - self.began:.0f} s] {text}\n")

    def tools(self) -> Tools:
        """What the model is sent of each tool."""
        described: Tools = json.loads(self.run_command([sys.executable, "-m", "desk.schema"], {}))
        return described

    def proposals(self) -> list[str]:
        """The tools about which refine proposes a line."""
        (path,) = (self.project / "data/audit/counterexamples").glob("*-counterexamples.json")
        return sorted({entry["tool"] for entry in json.loads(path.read_text("utf-8"))["statements"]})

    def measure(self, tools: Sequence[str]) -> dict[str, Any]:
        """What measurements foretell before the merge, by tool."""
        kept, replies = self.folder / "measured.jsonl", self.project / "data/audit/measured-replies.jsonl"
        if kept.exists():
            shutil.copy(kept, replies)

        def measured(tool: str) -> Any:
            with self.model.address() as url:
                asked = ("measure", "--tool", tool, "--contexts", str(PLAN["before"][0]), "--json")
                return json.loads(self.coreloop(*asked, url=url, accepts=(0, 1)))

        try:
            with ThreadPoolExecutor(self.model.n_addresses) as pool:
                return dict(zip(tools, pool.map(measured, tools), strict=True))
        finally:
            if replies.exists():
                shutil.copy(replies, kept)

    def promote(self, tool: str) -> None:
        """Open the pull request's branch, and merge it as a human does."""
        self.coreloop("promote", "--tool", tool, "--confirm", "--allow-unverified")
        self.git("fetch", "-q", "origin")
        branches = self.git("branch", "-r", "--format", "%(refname:short)").split()
        (branch,) = (name for name in branches if "/skill/" in name)
        self.git("merge", "-q", "--no-ff", "-m", f"Merge the line about {tool}", branch)
        self.git("push", "-q", "origin", "main")
        self.git("push", "-q", "origin", "--delete", branch.removeprefix("origin/"))

    def ask(self, arm: str, questions: Sequence[Question], tools: Tools, *, most: int = MOST_CALLS) -> None:
        """Ask all questions of an arm; those of `PLAN` are recorded in the project, as its agent would."""
        described = "\n".join(json.dumps(tool) for tool in tools)
        system = (
            f"You work at {self.office.desk}. Colleagues write to you; do what they ask with the tools. "
            f"Today is {self.office.today}.\n\n# Tools\n{described}\n\nReply with JSON only: "
            '{"tool": NAME, "args": {...}} to call a tool, or {"done": true} if it cannot be done.'
        )
        version, first = self.git("rev-parse", "HEAD"), FIRST.get(arm, FIRST["after"])
        data = (self.project if arm in PLAN else self.folder / "elsewhere") / "data"
        began, n_known = time.monotonic(), len(self.model.known)

        def answer(question: Question) -> Row:
            at, name = (
                first + timedelta(question.day, minutes=question.index),
                f"{arm}-{self.seed}-{question.index}",
            )
            with AuditCollector(
                question.text,
                provider="local",
                model="local",
                session_id=name,
                request_id=name,
                tools_version=version,
                data_dir=data,
                clock_ns=lambda: int(at.timestamp() * 1e9),
            ) as audit:
                row = self.work(question, system, most)
                audit.flush(chunk_len=40 if row["worked"] else 0)
            return {"arm": arm, **row}

        with ThreadPoolExecutor(self.model.n_addresses) as pool:
            self.rows += pool.map(answer, questions)
        n_new, elapsed_s = len(self.model.known) - n_known, time.monotonic() - began
        self.log(f"{arm}: {len(questions)} requests, {n_new} new replies, {elapsed_s:.0f} s")

    def work(self, question: Question, system: str, most: int) -> Row:
        """One request: the model calls, fails, and recovers or not; the first call that works ends it."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question.text}]
        calls, tools, tokens, right = list[tuple[str, Any, bool]](), self.office.load(), 0, 0
        for step in range(most):
            reply = self.model.reply(messages, self.schema, 100_000 * self.seed + 10 * question.index + step)
            tokens += reply["in"] + reply["out"]
            try:
                call = json.loads(reply["text"])
            except ValueError:  # cut off
                break
            if "tool" not in call:
                break
            name, args = call["tool"], call["args"]
            try:
                said, ok = f"Result: {json.dumps(observed_tool(tools[name])(**args))}", True
            except Exception as error:  # whatever a tool raises is the model's to read
                said, ok = f"Error: {type(error).__name__}: {error}", False
            calls.append((name, args, ok))
            right = (step + 1) * (ok and question.is_right(name, args))
            if ok and (name == question.tool or name not in self.office.first):
                break
            messages += [{"role": "assistant", "content": reply["text"]}, {"role": "user", "content": said}]
        about = {
            "i": question.index,
            "tool": question.tool,
            "needs": question.needs,
            "question": question.text,
        }
        worked = bool(calls) and calls[-1][2]
        return {**about, "calls": calls, "worked": worked, "right": right, "tokens": tokens}


def described(tool: Mapping[str, Any], text: str | None) -> dict[str, Any] | None:
    """A tool with a text after its description; None without one."""
    return {**tool, "description": f"{tool['description']}\n\n{text}"} if text else None


def meanings(choices: Any) -> dict[str, str]:
    """The first other word for each value of an argument."""
    ways = choices.items() if isinstance(choices, dict) else ()
    pairs = [(str(value), str(word)) for value, words in ways for word in words if str(word) != str(value)]
    return dict(reversed(pairs))


def other_words(line: str, slots: Mapping[str, Any]) -> dict[str, str]:
    """What may stand in the place of a line, by arm."""
    texts = {"placebo": f"- {(_FILLER * 9)[: len(line) - 2]}"}
    if (listed := _VALUES.search(line)) and (words := meanings(slots.get(listed[1]))):
        values = (f"{value} ({words[value]})" if value in words else value for value in listed[2].split(", "))
        texts["meanings"] = line.replace(listed[2], ", ".join(values))
    if bound := _BOUND.search(line):
        wordings = (f"- {wording.format(name=bound[1], value=bound[2])}" for wording in _BOUNDS)
        texts |= {f"bound {number}": wording for number, wording in enumerate(wordings, 1)}
    return texts


def _fails_first(row: Row) -> bool:
    return bool(row["calls"]) and not row["calls"][0][2]


COLUMNS: Final[Mapping[str, Callable[[Sequence[Row]], str]]] = {
    "n": lambda rows: str(len(rows)),
    "first call fails": lambda rows: f"{sum(map(_fails_first, rows)) / len(rows):.0%}",
    "failing calls": lambda rows: (
        f"{sum(not ok for row in rows for _, _, ok in row['calls']) / len(rows):.2f}"
    ),
    "repaired": lambda rows: f"{sum(_fails_first(row) and row['worked'] for row in rows)}",
    "done right": lambda rows: f"{sum(row['right'] > 0 for row in rows) / len(rows):.0%}",
    "worked but wrong": lambda rows: str(sum(row["worked"] and not row["right"] for row in rows)),
    "tokens": lambda rows: f"{sum(row['tokens'] for row in rows) / len(rows):.0f}",
}
"""Columns of the table: counts, or a share or mean of requests; a later call mended the `repaired` ones."""


def table(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What runs show, in Markdown: each line, then all, each before / after / without."""
    rows = [{**row, "run": number} for number, result in enumerate(results) for row in result["rows"]]
    arms: dict[str, dict[tuple[int, int], Row]] = {}
    for row in rows:
        arms.setdefault(row["arm"], {})[row["run"], row["i"]] = row
    lines = {
        (number, tool): line
        for number, result in enumerate(results)
        for tool, line in result["lines"].items()
    }
    controls = {(number, tool) for number, result in enumerate(results) for tool in result["controls"]}
    others = {(row["run"], row["tool"]) for row in rows} - set(lines) - controls
    titles = {f"{tool} `{line[2:]}`": {(number, tool)} for (number, tool), line in lines.items()}
    groups = {
        **titles,
        "**all with a line**": set(lines),
        "rules without a line": others,
        "controls": controls,
    }
    paired = "the same questions, points: first call fails; done right"
    yield f"| before / after / without | {' | '.join(COLUMNS)} | {paired} |"
    yield f"|---{'|---' * len(COLUMNS)}|---|"
    for title, tools in groups.items():
        sides = [[row for row in arms[arm].values() if (row["run"], row["tool"]) in tools] for arm in _PAIRED]
        if all(sides):
            cells = (" / ".join(map(count, sides)) for count in COLUMNS.values())
            pairs = list(zip(sides[2], sides[1], strict=True))
            truth = "; ".join(
                _points((f(old), f(new)) for old, new in pairs) for f in (_fails_first, _is_right)
            )
            yield f"| {title} | {' | '.join(cells)} | {truth} |"
    yield ""
    for name in sorted(arms.keys() - set(_PAIRED)):
        needed = [key for key, row in arms[name].items() if row["needs"]]
        right = {
            arm: sum(arms[arm][key]["right"] == 1 for key in needed) for arm in ("without", "after", name)
        }
        yield f"{name}: right at the first call, of {len(needed)} questions that need the line: {right}"
    for number, result in enumerate(results, 1):
        for found in result["effects"]["changes"]:
            tool, look = found["change"]["tool"], found["look"]
            shown = f"{_signed(**_seen(look['named']))}, day {look['day']}" if look else found["reason"]
            foretold = result["measured"].get(tool) or {
                "verdict": "not measured",
                "reason": "",
                "about": None,
            }
            gain = _signed(**_gain(foretold["about"])) if foretold["about"] else foretold["reason"]
            said = f"effect {found['verdict']} ({shown}); measure {foretold['verdict']} ({gain})"
            yield f"{number} {tool}: {said}"


def _seen(named: Mapping[str, float]) -> dict[str, float]:
    return {"mean": named["after"] - named["expected"], "low": named["low"], "high": named["high"]}


def _gain(about: Mapping[str, float]) -> dict[str, float]:
    return {"mean": about["edited"] - about["base"], "low": about["low"], "high": about["high"]}


def _is_right(row: Row) -> bool:
    return bool(row["right"] > 0)


def _points(pairs: Iterable[tuple[float, float]]) -> str:
    compared = compare_pairs([Pair(str(number), *pair) for number, pair in enumerate(pairs)])
    return _signed(compared.mean, compared.low, compared.high)


def _signed(mean: float, low: float, high: float) -> str:
    return f"{100 * mean:+.0f} ({100 * low:+.0f} to {100 * high:+.0f})"


def main() -> None:
    """Run the loop, or add up runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("office", nargs="?", choices=sorted(path.stem for path in OFFICES.glob("*.yaml")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("real_loop"))
    parser.add_argument("--url", nargs="+", default=[])
    parser.add_argument("--measure", action="store_true", help="measure each line before it is merged")
    parser.add_argument("--pool", nargs="+", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.pool:
        print(
            "\n".join(
                table([json.loads((folder / "result.json").read_text("utf-8")) for folder in options.pool])
            )
        )
    else:
        folder = options.folder.resolve()
        Loop(options.office, options.seed, folder, options.url, measures=options.measure).run()


if __name__ == "__main__":
    main()
