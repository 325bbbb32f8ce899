"""Sentences of a text, Korean or English, each a part of the text as it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_CHARS: Final = 480
"""Of a sentence; longer ones are cut at a space."""
_WRAPPED_CHARS: Final = 35
"""A line that is shorter, and ends without a full stop, is no wrapped line: the sentence ends with it."""
_END: Final = re.compile(
    r"""(?P<end> [.!?。！？…] ["'”’)]* )            # He said "no." (It was true.)
        (?: (?:\[\d{1,3}\])+ \s* | \s+ | \Z )      # footnotes [12] are no part of a sentence
    """,
    re.VERBOSE,
)
_NO_END: Final = re.compile(
    r"""(?: \b(?: [A-Za-z] | Mrs? | Ms | Dr | Prof | St | No | vs | e\.g | i\.e | etc | cf | Fig | approx
      | Inc | Co | Ltd | Corp | Jan | Feb | Mar | Apr | Jun | Jul | Aug | Sept? | Oct | Nov | Dec )
      | ^\s*\d{1,3} )\.\Z""",
    re.VERBOSE,
)  # Dr. Kim; 1. the first item; not: in 2025.
_GOES_ON: Final = re.compile(r"(?<=[A-Za-z]\.)\s+[a-z0-9]")  # pp. 5; not: 2025. 5, 했다. 5
_GOES_ON_DATE: Final = r"(?=\s?(?:기준|현재|까지|부터|에|자|~|\())"
_DOTTED_DATE: Final = re.compile(
    rf"(?<!\d)20\d\d\.\s\d{{1,2}}\.(?:\s\d{{1,2}}\.)?{_GOES_ON_DATE}\s?|(?<!\d)20\d\d\.\s\d{{1,2}}\.\s\d{{1,2}}"
)  # the official form: 2025. 9. 30. 기준; its dots end no sentence
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*+#>|]|\d{1,3}[.)]\s)")
_CODE: Final = re.compile(
    r"^\ *(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^\ *\1[^\n]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)  # a fence, and all before the fence that closes it
_FENCE: Final = re.compile(r"^ *(?:`{3,}|~{3,})(?P<language>[^\n]*)$", re.MULTILINE)
_UNDERLINE: Final = re.compile(r"([=~^\"*+-])\1{2,}\s*(?:\n|\Z)")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_FOOTNOTE: Final = re.compile(r"\s?\[\d{1,3}\]")
_TARGET: Final = re.compile(r"(?<=\])\([^()\s]*\)")  # of a link: [library](https://docs.python.org/3/library)
_CODE_LINE: Final = re.compile(
    r"""\s*(?: (?:async\s)?(?:def|class)\s | (?:return|raise|import|from|for|while|if|elif|with|assert)\b
      | [@#)\]}] | [\w.\[\]"']+(?:\s*:\s*[\w\[\], .|]+)?\s*(?:[-+*/|&]?=(?!=)|\() | ["'\w.]+\s*: )""",
    re.VERBOSE,
)  # LIMIT: Final = 7; raise ValueError("too poor"); not: It waits seven seconds,


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, exactly as it is in its source.

    Attributes
    ----------
    source : int
        The source's number.
    text : str
        A part of the source's text.
    around : str
        Its paragraph, the heading above it and the title of its source.
    """

    source: int
    text: str
    around: str = field(default="", compare=False)


def read_sentences(source: int, title: str, text: str, *, is_code: bool = False) -> list[Sentence]:
    """Read the sentences of a source with what stands around each; code is left out.

    Of a program (``is_code``), each line of code is a sentence.
    """
    found, heading = [], ""
    if is_code:
        around = f"{title}\n{text[:MAX_CHARS]}"
        return [Sentence(source, one, around) for one in split_sentences(text, is_code=True)]
    for paragraph in _PARAGRAPH_END.split(_without_code(text)):
        if paragraph.startswith("#"):
            heading = paragraph.partition("\n")[0]
        around = f"{title}\n{heading}\n{paragraph}"
        found += [Sentence(source, sentence, around) for sentence in split_sentences(paragraph)]
    return found


def _without_code(text: str) -> str:
    """Remove code; in a passage that begins inside it, the first fence is right below a line, like an end."""
    fence = _FENCE.search(text)
    before = text[: fence.start()] if fence else ""
    if fence and not fence["language"].strip() and before.strip() and not before.endswith("\n\n"):
        text = text[fence.end() :]
    return _CODE.sub("\n\n", text)


def split_sentences(text: str, *, is_code: bool = False, max_chars: int = MAX_CHARS) -> list[str]:
    """Split a text into its sentences, each a part of the text without the white space around it."""
    pieces = (piece for block in _blocks(text, is_code=is_code) for piece in _block_sentences(block))
    return [part for piece in pieces for part in _cut(piece, max_chars)]


def is_heading(sentence: Sentence) -> bool:
    """Whether a sentence is a heading of Markdown, or underlined."""
    if sentence.text.startswith("#"):
        return True
    below = sentence.around.partition(f"{sentence.text}\n")[2]
    return _UNDERLINE.match(below) is not None or _UNDERLINE.fullmatch(sentence.text) is not None


def without_footnotes(sentence: str) -> str:
    """Return a sentence on one line without the marks of footnotes, which would look like citations."""
    return " ".join(_FOOTNOTE.sub("", sentence).split())


def without_targets(text: str) -> str:
    """Return a text without the addresses of its links, which nobody reads as its words."""
    return _TARGET.sub("", text)


def _blocks(text: str, *, is_code: bool = False) -> Iterator[str]:
    """Yield paragraphs, items of lists, lines of tables and of code."""
    start = end = 0
    for line in text.splitlines(keepends=True):
        if not line.strip() or (_CODE_LINE if is_code else _LIST_ITEM).match(line):
            yield text[start:end]
            start = end
        end += len(line)
        if len(line.strip()) < _WRAPPED_CHARS:
            yield text[start:end]
            start = end
    yield text[start:]


def _block_sentences(block: str) -> Iterator[str]:
    start = 0
    dates = [match.span() for match in _DOTTED_DATE.finditer(block)]
    for match in _END.finditer(block):
        end = match.end("end")
        is_inside = _NO_END.search(block, max(start, end - 8), end) or _GOES_ON.match(block, end)
        if not is_inside and not any(first < end < last for first, last in dates):
            yield block[start:end].strip()
            start = match.end()
    yield block[start:].strip()


def _cut(sentence: str, max_chars: int) -> Iterator[str]:
    while len(sentence) > max_chars:
        space = sentence.rfind(" ", 1, max_chars)
        end = space if space > 0 else max_chars
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence
