"""All kinds of private data that are planted, in the order of the table."""

from . import america, britain, credentials, europe, internet, korea, payment, people
from .kind import Kind

SECTIONS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    ("internet", internet.KINDS),
    ("kr", korea.KINDS),
    ("payment", payment.KINDS),
    ("us", america.KINDS),
    ("uk", britain.KINDS),
    ("eu", europe.KINDS),
    ("credentials", credentials.KINDS),
    ("names", people.KINDS),
)
KINDS: tuple[Kind, ...] = tuple(kind for _, kinds in SECTIONS for kind in kinds)
