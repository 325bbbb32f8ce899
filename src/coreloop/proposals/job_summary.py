"""What a nightly run proposes, as Markdown for the summary of a workflow's job, read on a phone.

    python -m coreloop.proposals.job_summary FOLDER
    python -m coreloop.proposals.job_summary --ids FILE

Of a folder: the newest files in its candidates and counterexamples. Of a file: the ids of the candidates with
text, best first.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from coreloop.errors import CoreloopError, WorkspaceError
from coreloop.proposals.vocabulary import Step
from coreloop.text import escape_markdown

_SHOWN: Final = 10


class _Candidate(msgspec.Struct):
    id: str
    cat_hash: str
    tool_pattern: tuple[Step, ...]
    n_observed: int
    success_rate: float
    suggested_append: dict[str, str | None] | None = None


class _Counterexample(msgspec.Struct):
    id: str
    tool: str
    n_failures: int
    n_calls: int
    kind: str
    error_class: str | None = None


class _Window(msgspec.Struct):
    since: str
    until: str


class _File(msgspec.Struct):
    window: _Window
    candidates: tuple[_Candidate, ...] = ()
    counterexamples: tuple[_Counterexample, ...] = ()


def job_summary(candidates: Path, counterexamples: Path) -> str:
    """Both files as two short lists.

    Raises
    ------
    WorkspaceError
        One of them cannot be read.
    """
    return "\n".join([*_guides(_read(candidates)), "", *_caveats(_read(counterexamples)), ""])


def promotable(path: Path) -> list[str]:
    """Ids of the candidates that have text with a place to go, best first."""
    found = (one for one in _read(path).candidates if (one.suggested_append or {}).get("target_file"))
    return [one.id for one in found]


def _guides(file: _File) -> Iterator[str]:
    days = escape_markdown(f"{file.window.since} to {file.window.until}")
    yield f"### {len(file.candidates)} candidates\n\n{days}\n"
    for one in file.candidates[:_SHOWN]:
        steps = escape_markdown(" > ".join(map(str, one.tool_pattern)))
        succeeded = f"{round(one.success_rate * one.n_observed)} of {one.n_observed}"
        yield f"- **{escape_markdown(one.id)}** {succeeded}, {escape_markdown(one.cat_hash)}: {steps}"
    yield from _more(file.candidates)


def _caveats(file: _File) -> Iterator[str]:
    yield f"### {len(file.counterexamples)} counterexamples\n"
    for one in file.counterexamples[:_SHOWN]:
        what = "calls" if one.kind == "call" else "requests"
        why = f" ({escape_markdown(one.error_class)})" if one.error_class else ""
        failed = f"{one.n_failures} of {one.n_calls} {what} failed{why}"
        yield f"- **{escape_markdown(one.id)}** {escape_markdown(one.tool)}: {failed}"
    yield from _more(file.counterexamples)


def _more(found: Sequence[object]) -> Iterator[str]:
    if len(found) > _SHOWN:
        yield f"- and {len(found) - _SHOWN} more, in the artifact"


def _read(path: Path) -> _File:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WorkspaceError(f"is no file of proposals ({error})", path=path) from error


def _newest(folder: Path, kind: str) -> Path:
    found = sorted((folder / kind).glob(f"*-{kind}.json"))
    if not found:
        raise WorkspaceError(f"holds no {kind}", path=folder / kind)
    return found[-1]


def main(arguments: Sequence[str]) -> int:
    """Entry point; 2 is a usage error, or a file that cannot be read."""
    try:
        match arguments:
            case ["--ids", file]:
                print("\n".join(promotable(Path(file))))
            case [folder]:
                print(
                    job_summary(*(_newest(Path(folder), kind) for kind in ("candidates", "counterexamples")))
                )
            case _:
                print((__doc__ or "").strip(), file=sys.stderr)
                return 2
    except CoreloopError as error:
        print(f"coreloop: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
