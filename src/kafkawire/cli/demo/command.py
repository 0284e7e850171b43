"""The command: its steps, one after the other."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kafkawire.cli.demo.administration import show_administration
from kafkawire.cli.demo.request import show_request
from kafkawire.cli.demo.running_broker import ask_broker
from kafkawire.cli.generate import OWN_PACKAGE, run_generation
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.generate import Target, checked_specs
from kafkawire.codegen.package_data import specs_dir
from kafkawire.model.nodes import bootstrap_nodes

BrokerOption = Annotated[str | None, typer.Option(help="HOST:PORT of a broker to show: features, nodes, topics.")]


def run(broker: BrokerOption = None) -> None:
    """Generate the protocol, show a request byte by byte, and administer, kill and restart a broker."""
    console = Console()
    address = None if broker is None else _checked(broker)
    _show_generation(console)
    show_request(console)
    show_administration(console)
    if address is not None:
        console.rule(f"[bold]A broker responds: {address}")
        ask_broker(console, address)


def _checked(address: str) -> str:
    try:
        bootstrap_nodes(address)
    except ValueError as error:
        raise CommandError(f"--broker: {error}", ExitCode.USAGE) from None
    return address


def _show_generation(console: Console) -> None:
    console.rule("[bold]1. Apache Kafka's message definitions become a Python package")
    with tempfile.TemporaryDirectory(prefix="kafkawire-demo-") as scratch:
        folder = Path(scratch)
        target = Target(specs_dir(), OWN_PACKAGE, folder / "package", folder / "tests")
        run_generation(target, checked_specs(target.specs, lambda *_: None), console)
