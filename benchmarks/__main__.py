"""The command: ``python -m benchmarks [NAME ...] [--check] [--out FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import (
    admin,
    admin_memory,
    admin_page,
    batches,
    broker,
    broker_page,
    codec,
    commands,
    commands_page,
    comparison,
    generation,
    import_time,
    logs,
    logs_page,
    records,
    spark,
    spark_page,
)
from benchmarks.admin_peers import missing_admin_peers
from benchmarks.chart import speed_up_chart
from benchmarks.machine import machine_facts
from benchmarks.peers import missing_peers
from benchmarks.report import alone_table, page, peers_of, table, verdict
from benchmarks.results import ADMIN_PEERS, KAFKA, Alone, Measurement
from benchmarks.sampling import Effort

ADMIN = "admin"
BROKER = "broker"
COMMANDS = "commands"
LOGS = "logs"
SPARK = "spark"
DEFAULT_FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
CHARTS = (("decode", "Time to decode"), ("encode", "Time to encode"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen benchmarks.

    Returns:
        0; with ``--check`` 1 if a target is missed; 2 if a peer is not installed.
    """
    options = _parser().parse_args(arguments)
    missing = missing_peers() + missing_admin_peers()
    if missing:
        print(f"{' and '.join(missing)} not installed: use `make bench`", file=sys.stderr)
        return 2
    benchmarks = _benchmarks(options.rounds, trial=options.trial)
    measurements: list[Measurement] = []
    complete = "all" in options.names
    for name in benchmarks if complete else [name for name in options.names if name in benchmarks]:
        for measurement in benchmarks[name]():
            print(f"{measurement.kind}\n" + "\n".join(table([measurement], peers_of(measurement.kind))), flush=True)
            measurements.append(measurement)
    if complete or set(benchmarks) <= set(options.names):
        _write(options.out, measurements)
    if complete or ADMIN in options.names:
        measurements += _run_admin(options.rounds, options.out, trial=options.trial)
    if complete or BROKER in options.names:
        measurements += _run_broker(options.rounds, options.out, trial=options.trial)
    if complete or COMMANDS in options.names:
        measurements += _run_commands(options.rounds, options.out, trial=options.trial)
    if complete or SPARK in options.names:
        measurements += _run_spark(options.rounds, options.out, trial=options.trial)
    if complete or LOGS in options.names:
        measurements += _run_logs(options.rounds, options.out, trial=options.trial)
    missed = [measurement for measurement in measurements if measurement.missed()]
    for measurement in missed:
        print(f"target missed: {measurement.kind} {measurement.case}: {verdict(measurement)}", file=sys.stderr)
    return 1 if options.check and missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure kafkawire beside its peers.")
    parser.add_argument(
        "names",
        nargs="*",
        choices=["all", *_benchmarks(1, trial=True), ADMIN, BROKER, COMMANDS, LOGS, SPARK],
        default="all",
        help="what to measure",
    )
    parser.add_argument("--rounds", type=int, default=21, help="rounds of each measurement (default: %(default)s)")
    parser.add_argument("--trial", action="store_true", help="small inputs and few calls: does it all run?")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER, help="folder for the pages and pictures")
    return parser


def _benchmarks(rounds: int, *, trial: bool) -> Mapping[str, Callable[[], Iterator[Measurement]]]:
    effort = Effort(rounds=rounds, slice_seconds=0, slice_calls=1) if trial else Effort(rounds=rounds)
    return {
        "codec": lambda: codec.run(effort, codec.SMALL_CASES if trial else codec.CASES),
        "records": lambda: records.run(effort, count=10 if trial else 1000),
        "import": lambda: import_time.run(rounds),
        "generation": lambda: generation.run(min(rounds, 3)),
        "comparison": lambda: comparison.run(min(rounds, 5)),
    }


def _run_admin(rounds: int, folder: Path, *, trial: bool) -> list[Measurement]:
    """Measure the admin client, and write its page unless this is a trial; skipped where Kafka cannot run."""
    measurements: list[Measurement] = []
    memory: list[admin_memory.Memory] = []
    try:
        for measurement in admin.run(rounds, admin.SMALL if trial else admin.Load()):
            print(f"{measurement.kind}\n" + "\n".join(table([measurement], ADMIN_PEERS)), flush=True)
            measurements.append(measurement)
        memory += admin_memory.run(admin_memory.SMALL_COUNTS if trial else admin_memory.COUNTS)
    except pytest.skip.Exception as skipped:
        print(f"{ADMIN} left out: {skipped}", file=sys.stderr)
        return []
    print("\n".join(admin_memory.table(memory)))
    if not trial:
        admin_page.write(folder, measurements, memory)
    return measurements


def _run_broker(rounds: int, folder: Path, *, trial: bool) -> list[Measurement]:
    """Measure the embedded broker, and write its page unless this is a trial; skipped where Kafka cannot run."""
    measurements: list[Measurement] = []
    try:
        for measurement in broker.run(rounds, broker.SMALL if trial else broker.Load()):
            peers = batches.OTHERS if measurement.kind == batches.KIND else (KAFKA,)
            print(f"{measurement.kind}\n" + "\n".join(table([measurement], peers)), flush=True)
            measurements.append(measurement)
    except pytest.skip.Exception as skipped:
        print(f"{BROKER} left out: {skipped}", file=sys.stderr)
        return []
    if not trial:
        broker_page.write(folder, measurements)
    return measurements


def _run_commands(rounds: int, folder: Path, *, trial: bool) -> list[Measurement]:
    """Measure the command line, and write its page unless this is a trial; skipped where Kafka cannot run."""
    measurements: list[Measurement] = []
    try:
        for measurement in commands.run(rounds, commands.SMALL if trial else commands.Load()):
            if isinstance(measurement, Alone):
                lines = alone_table([measurement])
            else:
                lines = table([measurement], commands.peers(measurement.kind))
            print(f"{measurement.kind}\n" + "\n".join(lines), flush=True)
            measurements.append(measurement)
    except pytest.skip.Exception as skipped:
        print(f"{COMMANDS} left out: {skipped}", file=sys.stderr)
        return []
    if not trial:
        commands_page.write(folder, measurements)
    return measurements


def _run_spark(rounds: int, folder: Path, *, trial: bool) -> list[Measurement]:
    """Measure the data source, and write its page unless this is a trial; skipped where Spark or Kafka cannot run."""
    measurements: list[Measurement] = []
    load = spark.SMALL if trial else spark.Load()
    try:
        for measurement in spark.run(min(rounds, 5), load):
            print(f"{measurement.kind}\n" + "\n".join(table([measurement], spark.SPARK_PEERS)), flush=True)
            measurements.append(measurement)
        memory = spark.memory(load)
    except pytest.skip.Exception as skipped:
        print(f"{SPARK} left out: {skipped}", file=sys.stderr)
        return []
    print("\n".join(spark_page.memory_table(memory)))
    if not trial:
        spark_page.write(folder, measurements, memory)
    return measurements


def _run_logs(rounds: int, folder: Path, *, trial: bool) -> list[Measurement]:
    """Measure tables of logs, and write their page unless this is a trial; skipped where Kafka cannot run."""
    measurements: list[Measurement] = []
    load = logs.SMALL if trial else logs.Load()
    peers = (KAFKA, logs.ONE_PROCESS, logs.FROM_NOTHING, logs.DECODING)
    try:
        for measurement in logs.run(min(rounds, logs.MOST_ROUNDS), load):
            print(f"{measurement.kind}\n" + "\n".join(table([measurement], peers)), flush=True)
            measurements.append(measurement)
    except pytest.skip.Exception as skipped:
        print(f"{LOGS} left out: {skipped}", file=sys.stderr)
        return []
    memory = logs.memory(load)
    print("\n".join(logs_page.memory_table(memory)))
    if not trial:
        logs_page.write(folder, measurements, memory)
    return measurements


def _write(folder: Path, measurements: Sequence[Measurement]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    charts = []
    for kind, title in CHARTS:
        chosen = [one for one in measurements if one.kind == kind]
        (folder / f"{kind}.svg").write_text(speed_up_chart(title, chosen), encoding="utf-8")
        charts.append((f"{kind}.svg", f"{title}: the table below has the figures"))
    (folder / "README.md").write_text(page(measurements, machine_facts(), charts), encoding="utf-8")
    print(f"written: {folder}")


if __name__ == "__main__":
    sys.exit(main())
