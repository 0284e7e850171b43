"""The benchmarks run, and judge what they measured. These tests do not check the figures: see ``make bench``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from benchmarks import (
    admin_memory,
    admin_page,
    batches,
    broker_page,
    command_start,
    command_tools,
    commands,
    commands_page,
    logs,
    logs_page,
    plan_apply,
    spark_page,
)
from benchmarks.admin_memory import Memory
from benchmarks.admin_peers import missing_admin_peers
from benchmarks.chart import drawn, speed_up_chart
from benchmarks.peers import missing_peers
from benchmarks.processes import peak_memory, whole_process
from benchmarks.report import in_words, page
from benchmarks.results import (
    ADMIN_PEERS,
    CONFLUENT,
    JAVA,
    KAFKA,
    KAFKA_PYTHON,
    KIO,
    OURS,
    Alone,
    Measurement,
    Target,
)
from benchmarks.sampling import Call, Effort, Waiting, interleave, interleave_waiting
from benchmarks.spark import PLAIN, WorkerMemory
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.apache_kafka.releases import class_path, newest_broker_release

ROOT = Path(__file__).parents[2]

TWICE_KIO = Measurement(
    "decode",
    "SomeResponse 1: one thing",
    {OURS: (1.0, 2.0, 3.0), KIO: (2.0, 4.0, 6.0), KAFKA_PYTHON: (4.0, 8.0, 12.0)},
    (Target(KIO, 2), Target(KAFKA_PYTHON, 5), Target(None, 2.5)),
)

HALF_OF_JAVA = Measurement("admin", "describe: some ACLs", {OURS: (2.0,), CONFLUENT: (8.0,), JAVA: (1.0,)})
SMALL = Memory(1000, 100_000, 200_000, 300_000, 400_000)
LARGE = Memory(2000, 200_000, 500_000, 600_000, 2_100_000)


@pytest.mark.skipif(
    bool(missing_peers()), reason=f"{' and '.join(missing_peers())} not installed; `make bench` does it"
)
@pytest.mark.nightly
def test_the_three_libraries_agree_and_are_measured() -> None:
    command = [sys.executable, "-m", "benchmarks", "codec", "records", "import", "--trial", "--rounds", "1"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    rows = [line for line in finished.stdout.splitlines() if line.startswith("| ") and "---" not in line]
    # Metadata: decoded, kept, encoded; Fetch: decoded, encoded; both with and without the native engine, twice.
    assert sum("Response 12" in row for row in rows) == 3 + 2 + 2 * 2


def test_speed_ups_are_taken_round_by_round() -> None:
    assert TWICE_KIO.speed_up(KIO).median == 2
    assert TWICE_KIO.speed_up(KAFKA_PYTHON).low == 4


def test_a_missed_target_is_named() -> None:
    assert TWICE_KIO.missed() == [Target(KAFKA_PYTHON, 5)]


def test_contenders_take_turns() -> None:
    turns: list[str] = []
    contenders = {name: lambda name=name: turns.append(name) for name in (OURS, KIO)}
    seconds = interleave(contenders, Effort(rounds=3, slice_seconds=0, slice_calls=1))
    assert turns[-6:] == [OURS, KIO] * 3
    assert [len(seconds[name]) for name in (OURS, KIO)] == [3, 3]


def test_a_contender_in_another_process_measures_itself() -> None:
    contenders: dict[str, Call | Waiting] = {OURS: lambda: None, KIO: Waiting(lambda: 7.0)}
    assert interleave(contenders, Effort(rounds=2, slice_seconds=0, slice_calls=1))[KIO] == (7.0, 7.0)


def test_the_page_states_times_ratios_and_verdicts() -> None:
    text = page([TWICE_KIO], [("Processor", "a fast one")], [("decode.svg", "Time to decode")])
    assert "| SomeResponse 1: one thing | 2 s | 4 s | 8 s | **2** (2 to 2) | **4** (4 to 4) |" in text
    assert "✓ 2 x kio, ✗ 5 x kafka-python, ✓ at most 2.5 s" in text


def test_a_line_in_words_is_above_each_table() -> None:
    assert in_words([TWICE_KIO]) == "The speed-up is 2 over kio, 4 over kafka-python. Missed targets have a ✗."
    slower = Measurement("decode", "another", {OURS: (2.0,), KIO: (1.0,)})
    assert in_words([TWICE_KIO, slower]).startswith("The speed-up is 0.5 to 2 over kio (above 1 in 1 of 2 cases), ")
    assert in_words([Measurement("generate", "all", {OURS: (1.0,)})]) == "All targets are met."


def dots(picture: str) -> list[str]:
    """The libraries whose dots are in a picture, each with its ratio."""
    return re.findall(r'<g id="([^"]+: [^"]+)">', picture)


def test_the_picture_has_a_dot_for_each_library() -> None:
    picture = speed_up_chart("Time to decode", [TWICE_KIO])
    assert dots(picture) == ["kafkawire: 1", "kio: 2", "kafka-python: 4"]


def test_the_picture_shows_the_greatest_speed_up_first() -> None:
    greater = Measurement("decode", "another", {OURS: (1.0,), KIO: (9.0,)})
    assert dots(speed_up_chart("Time", [TWICE_KIO, greater]))[1] == "kio: 9"


def test_the_same_figures_make_the_same_picture() -> None:
    assert speed_up_chart("Time", [TWICE_KIO]) == speed_up_chart("Time", [TWICE_KIO])


LONG = Measurement(
    "decode",
    "FetchResponse 12: 1 MiB of records in 64 partitions, the copy alone in place of kafkawire",
    {OURS: (1.0,), KIO: (0.02,), KAFKA_PYTHON: (900.0,)},
)


def words_of(figure: Figure) -> list[Text]:
    return [text for text in cast(list[Text], figure.findobj(Text)) if text.get_visible() and text.get_text().strip()]


def test_the_words_of_a_picture_overlap_nothing_and_stay_inside() -> None:
    figure = drawn("Time to decode", [TWICE_KIO, LONG])
    figure.canvas.draw()
    words = words_of(figure)
    boxes = [text.get_window_extent() for text in words]
    whole = figure.bbox
    assert len(words) > 15
    for number, box in enumerate(boxes):
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, words[number]
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, words[number]
        assert not [words[other] for other in range(number) if box.shrunk(0.9, 0.9).overlaps(boxes[other])], words[
            number
        ]


def test_letters_are_nine_pixels_high_on_a_page_of_400() -> None:
    figure = drawn("Time to decode", [TWICE_KIO])
    on_page = 368 / (figure.get_figwidth() * 72)
    words = words_of(figure)
    assert min(float(text.get_fontsize()) for text in words) * on_page >= 9


def test_contenders_that_are_waited_for_take_turns_and_a_first_round_does_not_count() -> None:
    turns: list[str] = []

    def other() -> float:
        turns.append(JAVA)
        return 7.0

    seconds = interleave_waiting({OURS: lambda: turns.append(OURS), JAVA: Waiting(other)}, 2)
    assert turns == [OURS, JAVA] * 3
    assert (len(seconds[OURS]), seconds[JAVA]) == (2, (7.0, 7.0))


def test_the_page_of_the_admin_client_has_a_column_for_each_peer_that_was_measured() -> None:
    imported = Measurement("admin import", "the package", {OURS: (0.001,), KAFKA_PYTHON: (0.1,)})
    text = admin_page.page([HALF_OF_JAVA, imported], [SMALL, LARGE], [("Processor", "a fast one")])
    assert (
        "| | kafkawire | confluent-kafka | Java | speed-up over confluent-kafka | speed-up over Java | target |" in text
    )
    assert "| describe: some ACLs | 2 s | 8 s | 1 s | **4** (4 to 4) | **0.5** (0.5 to 0.5) |" in text
    assert "| the package | 1 ms | 100 ms | **100** (100 to 100) |" in text


def test_memory_is_judged_by_its_peak_and_its_growth() -> None:
    rows = admin_memory.table([SMALL, LARGE])
    assert rows[-2:] == [
        "| 1 000 ACLs | 100 B | 200 B | 300 B | 400 B | ✓ below 1 KiB an ACL |",
        "| 2 000 ACLs | 100 B | 250 B | 300 B | 1050 B | ✗ below 1 KiB an ACL |",
    ]
    assert not admin_memory.is_linear([SMALL, LARGE])
    assert admin_memory.is_linear([SMALL, SMALL])


def test_the_picture_of_the_admin_client_has_a_dot_for_each_peer_that_was_measured() -> None:
    picture = speed_up_chart("Time", [HALF_OF_JAVA], ADMIN_PEERS)
    assert dots(picture) == ["kafkawire: 1", "confluent-kafka: 4", "Java: 0.5"]


@pytest.mark.nightly
@pytest.mark.interop
@pytest.mark.skipif(
    bool(missing_admin_peers()), reason=f"{' and '.join(missing_admin_peers())} not installed; `make bench` does it"
)
def test_admin_clients_describe_the_same_and_are_measured() -> None:
    class_path(newest_broker_release())  # skips this test where there is no Kafka
    command = [sys.executable, "-m", "benchmarks", "admin", "--trial", "--rounds", "1"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert [
        line.partition(":")[0] for line in finished.stdout.splitlines() if line.startswith(("| describe", "| alter"))
    ] == [
        "| describe",
        "| describe",
        "| alter",
    ]
    assert "| 220 ACLs |" in finished.stdout


def test_without_java_the_admin_client_is_left_out_with_a_word(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "admin", "--trial", "--rounds", "1"]
    environment = {"PATH": str(tmp_path)}
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert (finished.returncode, finished.stdout) == (0, "")
    assert finished.stderr.startswith("admin left out: needs Apache Kafka's own classes: there is no java on the path")


@pytest.mark.nightly
@pytest.mark.interop
def test_the_broker_is_measured_beside_apache_kafka() -> None:
    class_path(newest_broker_release())  # skips this test where there is no Kafka
    command = [sys.executable, "-m", "benchmarks", "broker", "--trial", "--rounds", "1"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert "a request that creates 20 ACLs" in finished.stdout


def test_the_page_of_the_broker_has_a_section_for_each_kind() -> None:
    started = Measurement("broker start", "the program", {OURS: (1.0,), KAFKA: (4.0,)}, (Target(KAFKA, 3),))
    asked = Measurement("broker requests", "ten of them", {OURS: (1.0,), KAFKA: (2.0,)}, (Target(KAFKA, 3),))
    seconds = {OURS: (1.0,), batches.PIPELINED: (3.0,), batches.SINGLY: (5.0,)}
    batched = Measurement(batches.KIND, "many filters", seconds, batches.TARGETS)
    text = broker_page.page([started, asked, batched], [("Processor", "one")])
    assert "* Processor: one" in text
    assert (
        text.index("## Start") < text.index("the program |") < text.index("## Requests") < text.index("ten of them |")
    )
    assert "**4**" in text
    assert "| many filters | 1 s | 3 s | 5 s | **3** (3 to 3) | **5** (5 to 5) |" in text


@pytest.mark.nightly
@pytest.mark.interop
def test_tables_of_logs_are_measured_beside_apache_kafka() -> None:
    class_path(newest_broker_release())  # skips this test where there is no Kafka
    *beside_kafka, processes, continued, index = logs.run(1, logs.SMALL)
    assert [one.kind for one in beside_kafka] == 2 * ["log tables"] + 6 * ["histories"]
    assert all(one.seconds.keys() == {OURS, KAFKA} for one in beside_kafka)
    assert processes.seconds.keys() == {OURS, logs.ONE_PROCESS}
    assert continued.seconds.keys() == {OURS, logs.FROM_NOTHING}
    assert index.seconds.keys() == {OURS, logs.DECODING}
    memory = logs.memory(logs.SMALL)
    assert [one.table for one in memory] == 2 * ["offset_commit"] + 2 * ["offset_commits"]
    assert memory[0].size == memory[2].size < memory[1].size == memory[3].size


def test_the_page_of_tables_of_logs_has_a_section_for_each_kind() -> None:
    tables = Measurement("log tables", "commits: 1 MB", {OURS: (1.0,), KAFKA: (3.0,)}, notes=("9 thousand records/s",))
    history = Measurement("histories", "offset_commits: 1 MB", {OURS: (1.0,), KAFKA: (2.0,)})
    processes = Measurement("processes", "divided: 1 MB", {OURS: (1.0,), logs.ONE_PROCESS: (1.75,)})
    continued = Measurement("continued", "acl_history: 1 MB", {OURS: (1.0,), logs.FROM_NOTHING: (7.0,)})
    index = Measurement("index pass", "hopping: 1 MB", {OURS: (1.0,), logs.DECODING: (40.0,)})
    memory = [
        logs.Memory(name, size, peak)
        for name, peaks in (
            ("offset_commit", (100_000_000, 110_000_000)),
            ("offset_commits", (200_000_000, 210_000_000)),
        )
        for size, peak in zip((1_000_000, 4_000_000), peaks, strict=True)
    ]
    text = logs_page.page([tables, history, processes, continued, index], memory, [("Processor", "one")])
    assert "| commits: 1 MB | 1 s | 3 s | **3** (3 to 3) |" in text
    assert "* commits: 9 thousand records/s" in text
    assert text.index("## Histories") < text.index("**2** (2 to 2)") < text.index("## Two processes")
    assert text.index("## Two processes") < text.index("**1.75**") < text.index("## Continued readings")
    assert text.index("## Continued readings") < text.index("**7**") < text.index("## Index pass")
    assert text.index("## Index pass") < text.index("**40**") < text.index("## Memory") < text.index("| 1.10 |")
    assert "| offset_commits | 4 MB | 210 MB | 1.05 |" in text


def test_the_page_of_spark_has_a_column_for_each_peer_and_judges_memory() -> None:
    one = Measurement("spark", "one core: some", {OURS: (2.0,), PLAIN: (1.8,)}, (Target(PLAIN, 0.8),))
    two = Measurement("spark", "two cores: some", {OURS: (1.0,), KAFKA: (1.2,)}, (Target(KAFKA, 1.5),))
    flat = [WorkerMemory(62_000_000, 100_000_000), WorkerMemory(248_000_000, 110_000_000)]
    text = spark_page.page([one, two], flat, [("Processor", "one")])
    assert "| one core: some | 2 s | 1.8 s | - | **0.9** (0.9 to 0.9) | - | ✓ 0.8 x without Spark |" in text
    assert "✗ 1.5 x Apache Kafka" in text
    assert "| 248 MB | 110 MB | ✓ |" in text
    assert not spark_page.is_flat([flat[0], WorkerMemory(248_000_000, 121_000_000)])


@pytest.mark.nightly
@pytest.mark.interop
@pytest.mark.skipif(
    bool(missing_peers()), reason=f"{' and '.join(missing_peers())} not installed; `make bench` does it"
)
def test_the_command_line_is_measured_beside_kafkas_tools() -> None:
    class_path(newest_broker_release())  # skips this test where there is no Kafka
    measured = list(commands.run(1, commands.SMALL))
    cases: dict[str, list[Measurement]] = {}
    for one in measured:
        cases.setdefault(one.kind, []).append(one)
    assert [len(each) for each in cases.values()] == [len(command_start.CALLS), 6, 1, 4, 3, 2]
    assert {KAFKA, command_tools.TUNED, KAFKA_PYTHON} < cases[command_tools.KIND][0].seconds.keys()
    assert all(isinstance(one, Alone) and one.peak for one in cases[plan_apply.DOCUMENTS])


def test_the_page_of_the_command_line_has_a_section_for_each_kind() -> None:
    started = Measurement(command_start.KIND, "help", {OURS: (0.04,), command_start.EMPTY: (0.01,)}, (Target(None, 1),))
    described = Measurement(
        command_tools.KIND, "a topic", {OURS: (1.0,), KAFKA: (4.0,), command_tools.TUNED: (2.0,)}, (Target(KAFKA, 3),)
    )
    quotas = Measurement(plan_apply.QUOTAS, "of users", {OURS: (1.0,), KAFKA: (400.0,)}, (Target(KAFKA, 500),))
    many = Measurement(plan_apply.QUOTAS, "of more", {OURS: (1.0,), KAFKA: (2000.4,)}, (Target(KAFKA, 500),))
    planned = Alone(plan_apply.DOCUMENTS, "plan", {OURS: (1.0, 2.0, 3.0)}, (Target(None, 10),), peak=50 * 2**20)
    text = commands_page.page([started, described, quotas, many, planned], [("Processor", "one")])
    assert "| help | 40 ms | 10 ms | **0.25** (0.25 to 0.25) | ✓ at most 1 s |" in text
    assert "| a topic | 1 s | 4 s | 2 s | **4** (4 to 4) | **2** (2 to 2) | ✓ 3 x Apache Kafka |" in text
    assert "| of users | 1 s | 400 s | **400** (400 to 400) | ✗ 500 x Apache Kafka |" in text
    assert "| of more | 1 s | 2,000 s | **2,000** (2,000 to 2,000) | ✓ 500 x Apache Kafka |" in text
    assert "| plan | 2 s | 1.5 s to 2.5 s | 50 MiB | ✓ at most 10 s |" in text


def test_the_memory_of_a_process_is_its_own() -> None:
    mebibyte = 2**20
    large = bytearray(64 * mebibyte)
    small = whole_process([sys.executable, "-c", "import time; time.sleep(0.1)"], memory=True)
    assert len(large) < peak_memory()
    assert 4 * mebibyte < small.peak < 48 * mebibyte


def test_a_process_that_fails_is_no_measurement() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        whole_process([sys.executable, "-c", "raise SystemExit(1)"])
    assert whole_process([sys.executable, "-c", "raise SystemExit(2)"], exit_code=2).seconds > 0
