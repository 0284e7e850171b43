"""``kafkawire codec``: JSON lines in, JSON lines out; a bad line gets an error and never stops the filter."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.made.example_messages import extreme_instances
from tests.made.packages import field, generated, message, write_definitions

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.codegen.generate import Target
from kafkawire.protocol import MESSAGE_NAMES, message_class, to_json

ENGINES = ("generated", "reference")
COMMAND = [str(Path(sys.executable).with_name("kafkawire")), "codec"]

NAME = "DeleteTopicsRequest"
BODY = "03 07 6f7264657273 02 61 0000ea60 00".replace(" ", "")
JSON = {"topicNames": ["orders", "a"], "timeoutMs": 60000}


class Filter:
    """Runs the filter in this process: takes lines and returns parsed answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.more: list[str] = []

    def raw(self, command: str, octets: bytes, engine: str) -> str:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(octets)))
        code = main(["codec", command, "--engine", engine, *self.more])
        shown = self._capsys.readouterr()
        assert shown.err == ""
        failed = ["error" in json.loads(line) for line in shown.out.splitlines()]
        assert code == (0 if not any(failed) else 1 if all(failed) else 3)
        return shown.out

    def __call__(self, command: str, *lines: object, engine: str = "generated") -> list[Any]:
        octets = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        return [json.loads(answer) for answer in self.raw(command, octets, engine).splitlines()]


@pytest.fixture
def codec(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Filter:
    return Filter(monkeypatch, capsys)


def decode_line(hex_: str = BODY, version: object = 4, name: object = NAME) -> dict[str, object]:
    return {"name": name, "version": version, "hex": hex_}


def encode_line(value: object, version: int = 4, name: str = NAME) -> dict[str, object]:
    return {"name": name, "version": version, "json": value}


@pytest.mark.parametrize("engine", ENGINES)
def test_decode(codec: Filter, engine: str) -> None:
    assert codec("decode", decode_line(), engine=engine) == [{"json": JSON, "hex": BODY}]


@pytest.mark.parametrize("engine", ENGINES)
def test_encode(codec: Filter, engine: str) -> None:
    assert codec("encode", encode_line(JSON), engine=engine) == [{"hex": BODY}]


@pytest.mark.parametrize("engine", ENGINES)
def test_decoded_json_can_be_encoded_again(codec: Filter, engine: str) -> None:
    padded = "83 80 00" + BODY[2:-2] + "01 09 01 ff"
    (answer,) = codec("decode", decode_line(padded), engine=engine)
    assert answer == {"json": JSON, "hex": BODY[:-2] + "010901ff"}, "shortest varints; unknown tagged fields kept"


@pytest.mark.usefixtures("no_cover")
@pytest.mark.parametrize("engine", ENGINES)
def test_every_message_is_encoded_and_decoded(codec: Filter, engine: str) -> None:
    messages = [
        (cls, version, extreme_instances(cls, cls.layouts().of_version(version))["maximum"])
        for cls in map(message_class, MESSAGE_NAMES)
        for version in cls.VERSIONS
    ]
    octets = [message.encode(version).hex() for _, version, message in messages]
    json_forms = [to_json(message, version) for _, version, message in messages]
    lines = [decode_line(hex_, version, cls.NAME) for (cls, version, _), hex_ in zip(messages, octets, strict=True)]
    again = [encode_line(form, version, cls.NAME) for (cls, version, _), form in zip(messages, json_forms, strict=True)]
    assert codec("decode", *lines, engine=engine) == [
        {"json": form, "hex": hex_} for form, hex_ in zip(json_forms, octets, strict=True)
    ]
    assert codec("encode", *again, engine=engine) == [{"hex": hex_} for hex_ in octets]


def test_older_names_of_messages_are_known(codec: Filter) -> None:
    (answer,) = codec("decode", decode_line("00", 0, "ListClientMetricsResourcesRequest"))
    assert answer == {"json": {}, "hex": "00"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("line", "error"),
    [
        (decode_line(BODY[:8]), {"kind": "truncated", "path": "topicNames[0]", "offset": 2,
         "message": "DeleteTopicsRequest v4: topicNames[0] at byte 2: needs 6 bytes, 2 are left"}),
        (decode_line(""), {"kind": "truncated", "path": "topicNames", "offset": 0,
         "message": "DeleteTopicsRequest v4: topicNames at byte 0: needs 1 byte, 0 are left"}),
        (decode_line(BODY + "00"), {"kind": "trailing", "path": "", "offset": 15,
         "message": "DeleteTopicsRequest v4: at byte 15: 1 byte is left after the message"}),
        (decode_line("00"), {"kind": "null", "path": "topicNames", "offset": 0,
         "message": "DeleteTopicsRequest v4: topicNames at byte 0: null is not allowed here"}),
        (decode_line("02 02 ff"), {"kind": "utf8", "path": "topicNames[0]", "offset": 2,
         "message": "DeleteTopicsRequest v4: topicNames[0] at byte 2: malformed UTF-8, invalid start byte"}),
        (decode_line("ffffffffff"), {"kind": "varint", "path": "topicNames", "offset": 0,
         "message": "DeleteTopicsRequest v4: topicNames at byte 0: a varint has at most 5 bytes"}),
        (decode_line("ffffffff07"), {"kind": "truncated", "path": "topicNames", "offset": 0,
         "message": "DeleteTopicsRequest v4: topicNames at byte 0: claims 2147483646 elements, 0 are left"}),
        (decode_line("01 00000000 02 05 00 05 00"), {"kind": "tag", "path": "", "offset": 8,
         "message": "DeleteTopicsRequest v4: at byte 8: tag 5 after tag 5; tags go up"}),
        (decode_line(version=99), {"kind": "version", "path": "", "offset": None,
         "message": "DeleteTopicsRequest: there is no version 99; versions are 0 to 6"}),
        (decode_line(version=10**30), {"kind": "version", "path": "", "offset": None,
         "message": f"DeleteTopicsRequest: there is no version {10**30}; versions are 0 to 6"}),
        (decode_line(version=-1), {"kind": "version", "path": "", "offset": None,
         "message": "DeleteTopicsRequest: there is no version -1; versions are 0 to 6"}),
    ],
)  # fmt: skip
def test_bytes_that_do_not_decode(codec: Filter, engine: str, line: object, error: dict[str, object]) -> None:
    assert codec("decode", line, engine=engine) == [{"error": error}]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (encode_line({}), ("json", "topicNames", "the key 'topicNames' is missing")),
        (encode_line([]), ("json", "", "expected an object, not an array")),
        (encode_line(None), ("json", "", "expected an object, not null")),
        (encode_line(JSON | {"timeoutMs": 2**31}), ("json", "timeoutMs", "outside int32")),
        (encode_line(JSON | {"timeoutMs": 10**400}), ("json", "timeoutMs", "an integer of 1329 bits")),
        (encode_line(JSON | {"timeoutMs": 1.0}), ("json", "timeoutMs", "expected an integer")),
        (encode_line(JSON | {"timeoutMs": True}), ("json", "timeoutMs", "expected an integer")),
        (encode_line(JSON | {"topicNames": "orders"}), ("json", "topicNames", "expected an array")),
        (encode_line(JSON | {"topicNames": ["a", 1]}), ("json", "topicNames[1]", "expected a string")),
        (encode_line(JSON | {"topicNames": ["\ud800"]}), ("input", "", "JSON is malformed")),
        (encode_line(JSON | {"topicNames": ["x" * 40000]}), ("length", "topicNames[0]", "at most 32767")),
        (encode_line({"topics": [{"name": None, "topicId": "A"}], "timeoutMs": 1}, 6),
         ("json", "topics[0].topicId", "a uuid is")),
        (encode_line(JSON, 99), ("version", "", "there is no version 99")),
    ],
)  # fmt: skip
def test_json_that_does_not_encode(codec: Filter, engine: str, line: object, expected: tuple[str, str, str]) -> None:
    ((_, error),) = codec("encode", line, engine=engine)[0].items()
    kind, path, message = expected
    assert (error["kind"], error["path"], error["offset"]) == (kind, path, None)
    assert message in error["message"]


@pytest.mark.parametrize("engine", ENGINES)
def test_paths_in_errors_use_the_names_of_the_json_form(codec: Filter, engine: str) -> None:
    request = {"name": "FetchRequest", "version": 12}
    octets = "ffffffff 00000000 00000000 00000000 00 00000000 00000000 02 02 61 02 00000000 00000000".replace(" ", "")
    (answer,) = codec("decode", {**request, "hex": octets}, engine=engine)
    assert answer["error"]["path"] == "topics[0].partitions[0].fetchOffset"
    assert answer["error"]["message"].startswith("FetchRequest v12: topics[0].partitions[0].fetchOffset at byte ")


def test_a_number_that_is_too_large_is_named(codec: Filter) -> None:
    (answer,) = codec("decode", decode_line("ffffffff7f"))
    assert answer["error"]["message"] == (
        "DeleteTopicsRequest v4: topicNames at byte 0: "
        "the number of elements is the varint 34359738367, at most 2147483647 is allowed"
    )


def test_a_misspelt_message_gets_a_suggestion(codec: Filter) -> None:
    (answer,) = codec("decode", decode_line(name="DeleteTopicRequest"))
    assert answer["error"]["message"] == (
        "kafkawire.protocol has no message 'DeleteTopicRequest'; did you mean DeleteTopicsRequest?"
    )


OWN = message("OrderPlaced", field("Lines", "[]Line", fields=[field("ArticleId", "int32"), field("Note", "string")]))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of the user in the current folder; Kafka has no messages with its names."""
    package = f"acme_of_codec_{next(_numbers)}"
    generated(Target(write_definitions(tmp_path / "specs", OWN), package, tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return package


_numbers = itertools.count()


@pytest.mark.parametrize("engine", ENGINES)
def test_messages_of_the_users_own_package(codec: Filter, own: str, engine: str) -> None:
    codec.more = ["--package", own]
    value = {"lines": [{"articleId": 7, "note": "x"}]}
    octets = "02 00000007 0278 00 00".replace(" ", "")
    assert codec("encode", encode_line(value, 1, "OrderPlaced"), engine=engine) == [{"hex": octets}]
    good, bad, other = codec(
        "decode",
        decode_line(octets, 1, "OrderPlaced"),
        decode_line(octets[:6], 1, "OrderPlaced"),
        decode_line(),
        engine=engine,
    )
    assert good == {"json": value, "hex": octets}
    assert bad["error"]["path"] == "lines[0].articleId"
    assert other["error"]["message"] == f"{own} has no message 'DeleteTopicsRequest'"


@pytest.mark.parametrize(
    ("package", "beginning"),
    [
        (
            "no.such.package",
            "--package: there is no package 'no.such.package' among what is installed",
        ),
        ("", "--package: there is no package '' among what is installed"),
        (
            ".relative",
            "--package: there is no package '.relative' among what is installed",
        ),
        ("json", "json is not a package that kafkawire generated"),
    ],
)
def test_modules_other_than_generated_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], package: str, beginning: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["codec", "decode", "--package", package]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.startswith(f"kafkawire: {beginning}")) == ("", True)


@pytest.mark.parametrize(("hexes", "code"), [(["00", BODY], 3), (["00"], 1), ([BODY], 0), ([], 0)])
def test_the_exit_code_tells_whether_lines_failed(hexes: list[str], code: int) -> None:
    octets = "\n".join(json.dumps(decode_line(each)) for each in hexes).encode()
    run = subprocess.run([*COMMAND, "decode"], input=octets, capture_output=True, check=False)
    assert run.returncode == code


def test_the_current_folder_never_shadows_an_installed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base64.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    command = [*COMMAND, "encode", "--package", "kafkawire.protocol.clients"]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert ended.stderr == b"kafkawire: kafkawire.protocol.clients is not a package that kafkawire generated\n"


NOT_A_LINE = [
    b"not json", b"{", b"[]", b"7", b"null", b'"text"', b"\x00", b"\xff\xfe",
    b'{"name": "\xff", "version": 1, "hex": ""}',
    b"{}", b'{"name": "FetchRequest"}', b'{"name": 1, "version": 1}', b'{"name": "FetchRequest", "version": "1"}',
    b'{"name": "FetchRequest", "version": 1.5}', b'{"name": "FetchRequest", "version": true}',
    b'{"name": "FetchRequest", "version": 1}', b'{"name": "FetchRequest", "version": null, "hex": ""}',
    b'{"name": "FetchRequest", "version": 1, "hex": 12}', b'{"name": "FetchRequest", "version": 1, "hex": "abc"}',
    b'{"name": "FetchRequest", "version": 1, "hex": "zz"}', b'{"name": "NoSuchRequest", "version": 1, "hex": ""}',
    b'{"name": "_MODULES", "version": 1, "hex": ""}', b'{"name": "", "version": 1, "hex": ""}',
    b'{"name": "FetchRequest", "version": 1, "hex": ""} {}', b"[" * 100_000, b'{"a":' * 100_000,
    b'{"name": "\\ud800", "version": 1, "hex": ""}', b'{"name": "' + b"x" * 100_000 + b'", "version": 1, "hex": ""}',
]  # fmt: skip


@pytest.mark.parametrize("line", NOT_A_LINE, ids=lambda line: line[:50].decode("latin-1"))
@pytest.mark.parametrize("command", ["decode", "encode"])
def test_an_invalid_line_gets_an_error(codec: Filter, command: str, line: bytes) -> None:
    good = {"decode": decode_line(), "encode": encode_line(JSON)}[command]
    before, answer, after = codec(command, good, line, good)
    assert before == after
    assert "hex" in before
    assert answer["error"]["kind"] == "input"
    assert (answer["error"]["path"], answer["error"]["offset"]) == ("", None)
    assert 0 < len(answer["error"]["message"]) < 300


HOSTILE_JSON = [
    b'{"topicNames": [], "timeoutMs": NaN}', b'{"topicNames": [], "timeoutMs": -Infinity}', b'{"topicNames": [\xff]}',
    b'{"topicNames": ["\xff"], "timeoutMs": 1}', b"[" * 50_000 + b"]" * 50_000,
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b'{"topicNames": [], "timeoutMs": ' + b"9" * 5000 + b"}", b"1e400", b"{,}", b"[1,]", b"",
    b'{"topicNames": ["\t"], "timeoutMs": 1}', b"Infinity", b"NaN",
    b'{"topicNames": [], "timeoutMs": 1, "timeoutMs": }', b'"\\x"', b"nul",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE_JSON, ids=lambda value: value[:30].decode("latin-1"))
@pytest.mark.parametrize("engine", ENGINES)
def test_invalid_or_excessive_json_gets_an_error(codec: Filter, engine: str, value: bytes) -> None:
    line = b'{"name": "DeleteTopicsRequest", "version": 4, "json": ' + value + b"}"
    before, answer, after = codec("encode", encode_line(JSON), line, encode_line(JSON), engine=engine)
    assert before == after == {"hex": BODY}
    assert answer["error"]["kind"] in ("input", "json")
    assert len(answer["error"]["message"]) < 300


def test_every_int64_is_exact(codec: Filter) -> None:
    name = "InitProducerIdResponse"
    for number in (2**63 - 1, -(2**63), 2**53 + 1):
        value = {"throttleTimeMs": 0, "errorCode": 0, "producerId": number, "producerEpoch": 0}
        (encoded,) = codec("encode", encode_line(value, 0, name))
        (decoded,) = codec("decode", decode_line(encoded["hex"], 0, name))
        assert decoded["json"] == value


def test_blank_lines_are_skipped_and_the_last_line_needs_no_line_end(codec: Filter) -> None:
    line = json.dumps(decode_line()).encode()
    for octets in (line, line + b"\n", b"\n\n" + line + b"\r\n  \n\t\n"):
        assert codec.raw("decode", octets, "generated").count("\n") == 1
    assert codec.raw("decode", b"", "generated") == ""
    assert codec.raw("decode", b"\n \n", "generated") == ""


def test_answers_come_in_the_order_of_the_lines(codec: Filter) -> None:
    lines = [encode_line(JSON | {"timeoutMs": number} if number % 3 else {}) for number in range(100)]
    answers = codec("encode", *lines)
    assert ["hex" in answer for answer in answers] == [number % 3 != 0 for number in range(100)]
    assert [int(a["hex"][-10:-2], 16) for a in answers if "hex" in a] == [n for n in range(100) if n % 3]


def test_hex_may_have_either_case_and_blanks(codec: Filter) -> None:
    spaced = " ".join(BODY[at : at + 2] for at in range(0, len(BODY), 2))
    answers = codec("decode", decode_line(BODY.upper()), decode_line(spaced))
    assert answers == [{"json": JSON, "hex": BODY}] * 2


@pytest.mark.parametrize("arguments", [["--engine", "fastest"], ["--no-such-option"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codec", "decode", *arguments]) == 2
    assert capsys.readouterr().out == ""


def test_each_answer_is_written_at_once() -> None:
    with subprocess.Popen([*COMMAND, "decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, key in ((decode_line(), "json"), (decode_line("ff"), "error"), (decode_line(), "json")):
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            assert key in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == ExitCode.SOME_FAILED


def test_the_filter_ends_quietly_when_its_reader_stops() -> None:
    lines = json.dumps(decode_line()).encode() + b"\n"
    with subprocess.Popen(
        [*COMMAND, "decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(lines)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.write(lines * 1000)
            process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_twenty_thousand_lines_take_only_seconds() -> None:
    line = json.dumps(decode_line()).encode() + b"\n"
    started = time.monotonic()
    done = subprocess.run([*COMMAND, "decode"], input=line * 20_000, capture_output=True, check=True)
    seconds = time.monotonic() - started
    assert done.stdout.count(b"\n") == 20_000
    assert seconds < 20, "100 000 lines take minutes, not hours"
