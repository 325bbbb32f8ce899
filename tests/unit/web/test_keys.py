"""API keys: on any address but the loopback they are required, and each allows what its scopes say."""

from pathlib import Path

import pytest

from coreloop.web.keys import new_key
from serving import RUNS, asked, served, until


def test_an_open_address_without_keys_is_refused(entry_point, tmp_path: Path):
    code, out, errors = entry_point(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert (code, out) == (2, "")
    assert "needs API keys; set CORELOOP_API_KEYS or give --keys FILE" in errors


@pytest.mark.slow
def test_each_key_does_what_its_scopes_say(tmp_path: Path):
    reader, run_entry = new_key("reader", ["read"]), new_key("runner", ["run"])
    keys = tmp_path / "keys"
    keys.write_text(reader[1])
    environ = {"CORELOOP_API_KEYS": run_entry[1]}
    with served(tmp_path, "--keys", str(keys), bounds={RUNS: 20}, environ=environ) as service:
        with service.client(headers={"Authorization": f"Bearer {reader[0]}"}) as client:
            assert client.get("/runs").status_code == 200
            refused = asked(client)
            assert (refused.status_code, refused.json()["error"]["type"]) == (403, "scope")
        with service.client(headers={"Authorization": f"bearer {run_entry[0]}"}) as client:
            assert asked(client).status_code == 200
            assert client.get("/runs").status_code == 403
            statuses = [asked(client, "/run-simple", **{"async": True}).status_code for _ in range(4)]
            assert statuses == [202, 429, 429, 429]  # six seconds' worth of 20 a minute are two
        with service.client() as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/openapi.json").status_code == 200
            answers = [client.get("/runs", headers={"Authorization": f"Bearer {n}"}) for n in range(100)]
            assert {answer.status_code for answer in answers} == {401, 429}
            assert answers[0].headers["www-authenticate"] == "Bearer"
        until(lambda: sum(line.get("status") in {401, 429} for line in service.lines) == 100 + 3)
        log = service.log.read_text()
        assert reader[0] not in log
        assert run_entry[0] not in log
        assert "runner" in log
