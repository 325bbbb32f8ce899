"""How often the offline model quotes a sentence with the answer: 400 questions of KorQuAD."""

import json
import lzma
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from coreloop.models.offline import ENOUGH, MAX_QUOTES
from coreloop.models.sentences import RankedSentence, Sentence, rank_sentences, split_sentences


@dataclass(frozen=True)
class Asked:
    """A question, its answer, the paragraph that has it, four others, and up to four of the same article."""

    question: str
    answer: str
    paragraph: str
    others: tuple[str, ...]
    article: tuple[str, ...]


@pytest.fixture(scope="module")
def asked(shared_data: Path) -> list[Asked]:
    path = shared_data / "korquad_dev.json.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    return list(_sample(json.loads(lzma.decompress(path.read_bytes()))["data"], random.Random(1)))


def _sample(articles: list[dict[str, object]], dice: random.Random) -> Iterator[Asked]:
    articles_of: dict[str, list[str]] = defaultdict(list)
    questions = []
    for article in articles:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            articles_of[article["title"]].append(text)
            questions += [(article["title"], text, question) for question in paragraph["qas"]]
    texts = sorted({text for texts in articles_of.values() for text in texts})
    for title, text, question in dice.sample(questions, 400):
        yield Asked(
            question["question"],
            question["answers"][0]["text"],
            text,
            tuple(dice.sample([other for other in texts if other != text], 4)),
            tuple(other for other in articles_of[title] if other != text)[:4],
        )


_split = cache(split_sentences)


def quotes(question: str, texts: Iterable[str]) -> list[RankedSentence]:
    sentences = [Sentence(number, part) for number, text in enumerate(texts, 1) for part in _split(text)]
    return rank_sentences(question, sentences)[:MAX_QUOTES]


def share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return sum(counted) / len(counted)


def answers(one: Asked, found: Iterable[RankedSentence]) -> bool:
    return any(one.answer in quote.sentence.text for quote in found)


def test_the_answer_is_in_the_first_sentences(asked: list[Asked]):
    found = [(one, quotes(one.question, (one.paragraph, *one.others))) for one in asked]
    first = share(answers(one, quoted[:1]) for one, quoted in found)
    both = share(answers(one, quoted) for one, quoted in found)
    enough = share(
        answers(one, (quote for quote in quoted if quote.score >= ENOUGH)) for one, quoted in found
    )
    assert first > 0.77  # 0.785
    assert both > 0.88  # 0.895
    assert enough > 0.75  # 0.77


def test_few_questions_get_only_wrong_quotes(asked: list[Asked]):
    wrong = 0
    for one in asked:
        found = [quote for quote in quotes(one.question, one.article) if quote.score >= ENOUGH]
        wrong += bool(found) and not answers(one, found)
    assert wrong / len(asked) < 0.1  # 0.08
