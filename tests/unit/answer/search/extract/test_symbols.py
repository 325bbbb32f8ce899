"""Symbols of Python files: signatures, and what docstrings say, in sentences."""

from coreloop.answer.search.extract.document import Document, Entry
from coreloop.answer.search.extract.python import extract_python
from rows import each_row

NUMPYDOC = '''
class Order(Base):
    """An order.

    Attributes
    ----------
    total : int
        Sum in KRW.
    """

    total: int
    _hidden: str = ""

    def pay(self, amount: float, *, by="card", **extra) -> bool:
        """Pay the order.

        Only once.

        Parameters
        ----------
        amount : float
            In KRW, with tax.
        by : str
            ``card`` or ``cash``.
        **extra
            Passed on.

        Returns
        -------
        bool
            Whether it was paid.
        """
'''
GOOGLE = '''
async def pay(amount, by):
    """Pay.

    Args:
        amount (float): In KRW,
            with tax.
        by: card or cash.

    Returns:
        bool: Whether it was paid.
    """
'''
FIELDS = '''
def pay(amount, by):
    """Pay.

    :param float amount: In KRW.
    :param by: card or cash.
    :returns: Whether it was paid.
    """
'''


def entries(code: str) -> dict[str, Entry]:
    document = extract_python(code)
    assert isinstance(document, Document)
    return {entry.name: entry for entry in document.entries}


def test_numpydoc_is_read():
    found = entries(NUMPYDOC)
    assert found["Order"].text.split("\n\n") == [
        "class Order(Base)",
        "Order: An order.",
        "Order field total (int): Sum in KRW.",
    ]
    assert found["Order.pay"].text.split("\n\n") == [
        "def Order.pay(self, amount: float, *, by='card', **extra) -> bool",
        "Order.pay: Pay the order.",
        "Only once.",
        "Order.pay parameter amount (float): In KRW, with tax.",
        "Order.pay parameter by (str): ``card`` or ``cash``.",
        "Order.pay parameter extra: Passed on.",
        "Order.pay returns (bool): Whether it was paid.",
    ]
    assert [(one.kind, one.line, one.is_documented) for one in found.values()] == [
        ("class", 2, True),
        ("function", 14, True),
    ]


@each_row("code", [GOOGLE, FIELDS], ids=["google", "fields"])
def test_other_styles_are_read(code: str):
    (pay,) = entries(code).values()
    assert "pay parameter amount (float): In KRW" in pay.text
    assert "pay parameter by: card or cash." in pay.text
    assert "Whether it was paid." in pay.text
    assert pay.is_documented


@each_row(
    "code",
    [
        "def f(a=" + "-" * 50_000 + "1): pass",
        "def f(a: " + "x[" * 2_000 + "0" + "]" * 2_000 + "): pass",
        'def f():\n    """' + "Args:\\n" * 20_000 + '"""',
        "def f():\n    '''"
        + "\n    ".join(["Parameters", "----------", *("a : b" for _ in range(5_000))])
        + "'''",
    ],
    ids=["deep default", "deep annotation", "many headings", "many parameters"],
)
def test_hostile_code_is_bounded(code: str):
    document = extract_python(code)
    assert isinstance(document, Document)
    assert all(len(entry.text) <= 4_000 for entry in document.entries)
