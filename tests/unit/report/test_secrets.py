"""No secret of a cluster gets into a report: not whole, not from a damaged log, not in what the command prints."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.browser.report_data import data_of
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, Step, Written, write_offsets_segment, write_segment

from kafkawire.cli.app import main
from kafkawire.protocol import (
    ConfigRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    UserScramCredentialRecord,
)

BROKER, TOPIC = 4, 2
SALT: Final = b"salt-of-ann-0123456789"
STORED_KEY: Final = b"stored-key-of-ann-0123456789"
SERVER_KEY: Final = b"server-key-of-ann-0123456789"
PASSWORDS: Final = {
    (BROKER, "ssl.keystore.password"): "hunter2-keystore",
    (BROKER, "listener.name.sasl_ssl.plain.sasl.jaas.config"): 'Plain required password="hunter2-jaas";',
    (BROKER, "my.plugin.token"): "hunter2-plugin",
    (TOPIC, "unknown.to.kafka"): "hunter2-topic",
}


def spellings(secret: bytes) -> Iterator[str]:
    """How a secret could be written."""
    yield secret.decode()
    yield secret.hex()
    yield base64.b64encode(secret).decode().rstrip("=")
    yield base64.urlsafe_b64encode(secret).decode().rstrip("=")
    yield repr(list(secret))[1:-1]
    yield ",".join(map(str, secret))


@pytest.mark.parametrize("damaged", [False, True])
def test_page_and_output_have_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str], damaged: bool) -> None:
    credential = UserScramCredentialRecord("ann", 1, SALT, STORED_KEY, SERVER_KEY, 4096)
    configs = tuple(ConfigRecord(kind, "1", name, value) for (kind, name), value in PASSWORDS.items())
    steps = [
        Step(1000, (credential,)),
        Step(2000, configs),
        Step(3000, (ConfigRecord(TOPIC, "t", "cleanup.policy", "compact"),)),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    commit = (OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, -1, "hunter2-metadata-of-a-commit", 4000), 3)
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [Written(4000, (commit,))])
    if damaged:
        segment = tmp_path / METADATA_LOG / f"{0:020}.log"
        content = bytearray(segment.read_bytes())
        for position in (20, 20 + content.index(b"keystore")):
            content[position] ^= 1
        segment.write_bytes(content)
    page = tmp_path / "report.html"
    assert main(["report", "logs", str(tmp_path), "--out", str(page)]) == (3 if damaged else 0)
    output = capsys.readouterr()
    found = page.read_text("utf-8") + output.out + output.err
    assert ("[hidden]" in data_of(page)["texts"]) == (not damaged)
    assert "cleanup.policy" in found
    assert "hunter2" not in found
    for secret in (SALT, STORED_KEY, SERVER_KEY, *(value.encode() for value in PASSWORDS.values())):
        assert not [spelling for spelling in spellings(secret) if spelling in found]
