"""Charts are well-formed SVG with a title and a text, whatever their labels say."""

from xml.etree import ElementTree

from markupsafe import Markup

from coreloop.web.pages.charts import Interval, escape, interval_chart

SVG = "{http://www.w3.org/2000/svg}"
TEXT = f"{SVG}text"
HOSTILE = '</text><script>alert(1)</script>" onload="x\u202e\x00\n'


def read(chart: Markup) -> ElementTree.Element:
    """The chart as a parser sees it; HTML needs no namespace, XML does."""
    return ElementTree.fromstring(str(chart).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def draw(label: str) -> Markup:
    """A chart with a label wherever it takes one."""
    row = Interval(label=label, low=0.1, value=0.2, high=0.4, note=label)
    return interval_chart([row], id="a", title=label)


def test_hostile_labels_are_text():
    root = read(draw(HOSTILE))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "line", "rect", "circle", "text"}
    assert not any(name.startswith("on") or name == "style" for one in root.iter() for name in one.attrib)
    assert "\u202e" not in "".join(root.itertext())


def test_joined_emoji_stay_whole_and_hidden_joiners_are_shown():
    told = "👩\u200d👧 שלום\u200f"
    assert escape(f"{told}\na\u200db\u202e") == f"{told}\na\\u{{200d}}b\\u{{202e}}"


def test_a_chart_is_named_by_its_title_and_its_text():
    title, desc, *_ = root = read(draw("success"))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert title.text == "success"
    assert desc.text


def test_wide_letters_are_cut_at_half_as_many():
    narrow, wide = (read(draw(label * 99)).findall(TEXT)[5].text or "" for label in ("a", "가"))
    assert narrow.endswith("a…")
    assert wide.endswith("가…")
    assert len(narrow) == 2 * len(wide)
