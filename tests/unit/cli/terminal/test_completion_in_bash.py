"""Tab in an interactive bash offers names of the cluster."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient
from kafkawire.broker import ThreadedBroker

PROGRAM = Path(sys.executable).with_name("kafkawire")
PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_tab_completes_topics_and_principals_of_the_cluster(tmp_path: Path) -> None:
    home = {
        **os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "TERM": "dumb",
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
    }  # fmt: skip
    home.pop("XDG_DATA_HOME", None)
    subprocess.run([PROGRAM, "--install-completion", "bash"], check=True, env=home, capture_output=True)
    with (tmp_path / ".bashrc").open("a") as start:
        start.write("bind 'set enable-bracketed-paste off'; PS1='ready> '\n")
    with ThreadedBroker(PROPERTIES, topics=["payments-of-may"]) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as client:
            client.create_acls([AclBinding.of_cluster("User:albert", AclOperation.ALTER)]).all()
        home["KAFKAWIRE_BOOTSTRAP_SERVER"] = broker.bootstrap_servers
        outside, inside = pty.openpty()
        with subprocess.Popen(
            ["bash", "-i"], stdin=inside, stdout=inside, stderr=inside, env=home, cwd=tmp_path, start_new_session=True
        ) as bash:
            os.close(inside)
            _read_until(outside, b"ready> ")
            for line, completed in [
                (b"kafkawire topics describe pay\t", b"topics describe payments-of-may"),
                (b"kafkawire acls list --principal User:al\t", b"acls list --principal User:albert"),
            ]:
                os.write(outside, line)
                _read_until(outside, completed)
                os.write(outside, b"\x15")
            os.write(outside, b"exit\n")
            bash.wait(30)
        os.close(outside)


def _read_until(terminal: int, text: bytes) -> None:
    shown = b""
    while text not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        shown += os.read(terminal, 4096)
