"""Who sends a request: the key that it shows, the reader of pages that its cookie names, or an address."""

import time
from dataclasses import dataclass

from starlette.requests import Request

from coreloop.web.connections import client_address
from coreloop.web.keys import ANYONE, ApiKey, find_key
from coreloop.web.service import Service
from coreloop.web.sign_in import COOKIE


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request.

    Attributes
    ----------
    address : str
        See `coreloop.web.connections.client_address`.
    bearer, reader : ApiKey or None
        The key in the header ``Authorization``, and the one that the cookie of a page names.
    """

    address: str
    bearer: ApiKey | None
    reader: ApiKey | None

    @property
    def key(self) -> ApiKey | None:
        """Either of them."""
        return self.bearer or self.reader

    @property
    def name(self) -> str:
        """Whom limits count: the name of the key, or else the address."""
        return (self.key.name if self.key else "") or self.address


def identify(request: Request, service: Service) -> Caller:
    """Find out who sends a request."""
    address = client_address(request.client.host) if request.client else ""
    if not service.keys:
        return Caller(address, ANYONE, ANYONE)
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    bearer = find_key(service.keys, secret.strip()) if kind.lower() == "bearer" else None
    reader = service.sign_in.reader(request.cookies.get(COOKIE, ""), now=time.time())
    return Caller(address, bearer, reader)
