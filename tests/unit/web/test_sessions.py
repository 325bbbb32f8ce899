"""A session of a page ends on the server: a copy of the cookie ends with it, in every process."""

import re
from pathlib import Path

import httpx2
import pytest

from coreloop.web.keys import new_key
from serving import Served, served

SECRET, ENTRY = new_key("reader", ["read"])
KEYS = {"CORELOOP_API_KEYS": ENTRY}


def sign_in(client: httpx2.Client) -> str:
    assert client.post("/ui/sign-in", data={"key": SECRET}).status_code == 303
    return client.cookies["coreloop"].strip('"')


def sign_out(client: httpx2.Client) -> None:
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get("/ui/work").text)
    assert found is not None
    assert client.post("/ui/sign-out", data={"csrf": found[1]}).status_code == 303


def opens(service: Served, cookie: str) -> tuple[int, int]:
    """The statuses of a page and of the API with nothing but a cookie."""
    with service.client(cookies={"coreloop": cookie}) as client:
        return client.get("/ui/work").status_code, client.get("/runs").status_code


@pytest.mark.slow
def test_with_postgres_a_session_ends_for_every_process_on_the_database(database: str, tmp_path: Path):
    environ = KEYS | {"CORELOOP_DATABASE_URL": database}
    with served(tmp_path, environ=environ) as service, service.client() as client:
        copied = sign_in(client)
        with served(tmp_path, environ=environ) as second:
            assert opens(service, copied) == opens(second, copied) == (200, 200)
            sign_out(client)
            assert opens(service, copied) == opens(second, copied) == (303, 401)
    with served(tmp_path, environ=environ) as restarted:
        assert opens(restarted, copied) == (303, 401)


@pytest.mark.slow
def test_a_copied_cookie_ends_with_the_session_and_no_other_session_does(tmp_path: Path):
    with served(tmp_path, environ=KEYS) as service, service.client() as one, service.client() as other:
        copied, kept = sign_in(one), sign_in(other)
        assert copied != kept
        assert opens(service, copied) == (200, 200)
        sign_out(one)
        assert opens(service, copied) == (303, 401)
        assert opens(service, kept) == (200, 200)
        with served(tmp_path, environ=KEYS) as second:
            assert opens(second, copied) == (303, 401)
            assert opens(second, kept) == (200, 200)
            sign_out(other)
            assert opens(second, kept) == (303, 401)
