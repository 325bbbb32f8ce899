"""Without a model, findings are quotes: every sentence is in a source, which it names."""

from hypothesis import given
from hypothesis import strategies as st

from coreloop.answer.models.contracts import Material, NumberedSource
from coreloop.answer.research.next_queries import reflect_offline

SEOUL = NumberedSource(
    number=1,
    title="서울",
    text="서울은 대한민국의 수도이다.[3] 서울의 인구는 약 940만 명이다. 한강은 서울을 동서로 흐른다.",
    type="page",
    location="https://seoul.example/ko",
)


def test_a_reflection_has_quotes_and_the_gaps_without_one():
    questions = ("서울의 인구는?", "부산의 항구는?")
    asked = Material(question=" ".join(questions), sub_questions=questions, sources=(SEOUL,))
    reflection = reflect_offline(asked)
    (finding,) = reflection.findings
    assert (finding.text, finding.sources) == ("서울의 인구는 약 940만 명이다.", ("[1]",))
    assert (reflection.gaps, reflection.sufficient) == (("부산의 항구는?",), False)
    assert reflection.new_queries[0].query == "부산 항구"


def test_a_gap_is_followed_by_the_links_of_its_passages():
    text = "Whoever is unhappy with an order reads [Sending back](docs/rma-policy.md)."
    source = NumberedSource(number=1, title="Orders", text=text, location="a.md")
    question = "What can a customer do who is unhappy with an order?"
    asked = Material(question=question, sources=(source,), searched=("customer unhappy order",))
    assert reflect_offline(asked).new_queries[0].query == "Sending back docs rma policy.md"


@given(
    st.text(max_size=200),
    st.lists(
        st.text(alphabet=st.sampled_from('서울 인구 revenue.?!\n-*[1]{}"\\\udc80'), max_size=300), max_size=3
    ),
)
def test_every_quote_is_a_part_of_its_source(question: str, texts: list[str]):
    sources = [NumberedSource(number=n, title="", text=text) for n, text in enumerate(texts, 1)]
    read = {f"[{source.number}]": source.text for source in sources}
    reflection = reflect_offline(Material(question=f"서울 revenue? {question}", sources=tuple(sources)))
    assert all(finding.text in read[finding.sources[0]] for finding in reflection.findings)
