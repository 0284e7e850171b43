"""A table of Kafka's logs, written by Spark: a program for ``spark-submit``, and ``kafkawire spark tables``.

Every task writes its accounts beside the output, into the folder ``_accounts``. The last line, on standard error, is
their sum.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NoReturn

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions as sql
from pyspark.sql.types import ArrayType, BinaryType, BooleanType, NumericType, StructType, TimestampType

from kafkawire.logs import (
    Accounts,
    BeforeKnowledgeError,
    LogReadError,
    NoLogsError,
    UnknownColumnError,
    UnknownTableError,
)
from kafkawire.logs.accounts import TooManyErrorsError
from kafkawire.logs.option_records import Option
from kafkawire.logs.planning import find_logs
from kafkawire.logs.spreadsheets import FORMULA, NUMBER, QUOTE
from kafkawire.spark import register
from kafkawire.spark.manifest import JobManifest
from kafkawire.spark.options import OPTIONS, OptionError
from kafkawire.spark.planned_read import Reading, make_reading
from kafkawire.spark.replacing import Place, place_of, written_beside
from kafkawire.spark.task_accounts import read_accounts

DONE, FAILED, USAGE, SOME_FAILED = 0, 1, 2, 3
"""As in ``kafkawire.cli.outcome``, which the bundle for ``spark-submit`` does not have."""

_SPARK_FORMATS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
"""The forms of tables by Spark's names of them."""

_TIMES_AS_TEXT = {"timeZone": "UTC", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
"""As the other commands write times, whatever the zone of the session is."""

_DEFAULT_FORM = "parquet"
_OPTIONS = tuple(each for each in OPTIONS if each.in_commands)
_LOG_LEVEL = "spark.log.level"
_UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"
"""Over TCP each task waits some 40 ms for a delayed acknowledgement."""
_WRITES_SUCCESS_FILE = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
"""Hadoop's option for ``_SUCCESS``, which is written after the table has been moved into place."""

_OWN_ERROR = re.compile(r"(?:LogReadError|NoLogsError|OptionError|OwnDefinitionsError|BeforeKnowledgeError): (.*)")
_CAUSE = re.compile(r"^(?:Caused by: |: )?(?:\w+\.)*\w*(?:Error|Exception): (.+)$", flags=re.MULTILINE)


def main(words: Sequence[str] | None = None) -> int:
    """Read a table with Spark and write it.

    Args:
        words: the arguments; those of the process by default.

    Returns:
        The exit code: 0 if everything was decoded, 3 if there were errors but no more than ``--max-errors``, 1 for a
        failure, 2 for wrong usage.
    """
    arguments = argument_parser().parse_args(words)
    if arguments.csv_safe and arguments.format != "csv":
        return _fail("--csv-safe is for -o csv; the other forms write texts unchanged", USAGE)
    arguments.log = [_absolute(path) for path in arguments.log]
    options = _options(arguments)
    try:
        reading = make_reading(options | {"paths": json.dumps(arguments.log)})
        reading.schema()
        place = place_of(arguments.out)
    except (OptionError, UnknownColumnError, UnknownTableError) as error:
        return _fail(str(error), USAGE)
    except (ValueError, OSError) as error:
        return _fail(str(error), FAILED)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's own default is any python3 of the path
    try:
        if arguments.overwrite and _holds_logs(arguments.out, reading):
            return _fail(f"--overwrite would delete logs in {arguments.out}: give --out a folder of its own", USAGE)
        if place.exists and not arguments.overwrite:
            return _fail(f"{arguments.out} already exists: --overwrite replaces it", FAILED)
        tasks = len(reading.partitions())
        manifest = JobManifest(reading) if arguments.manifest else None
        with written_beside(place) as part:
            _write(arguments, options, part)
            accounts, code = _outcome_of_tasks(part, tasks, arguments.max_errors)
            if manifest is not None:
                manifest.write(part, place, accounts, _own_options(arguments))
    except _RejectedTableError:
        return FAILED
    except (PySparkException, Py4JError, OSError, LogReadError, BeforeKnowledgeError) as error:
        is_usage = any(kind.__name__ in f"{type(error)} {error}" for kind in (BeforeKnowledgeError, NoLogsError))
        return _fail(reason_of(str(error)), USAGE if is_usage else FAILED)
    return code


class _RejectedTableError(Exception):
    """The table is written but must not be moved into place; the reason was printed."""


def _outcome_of_tasks(part: Place, tasks: int, allowed: int | None) -> tuple[Accounts, int]:
    """The accounts of the tasks, and the exit code that follows from them.

    Raises:
        _RejectedTableError: accounts are missing, or there are more errors than allowed.
        OSError: they cannot be read.
    """
    accounts, found = read_accounts(_accounts_folder(part))
    if found < tasks:
        reason = f"{found} of {tasks} tasks wrote their accounts beside the table"
        _fail(f"{reason}: give --out as a URI that the driver and all workers can reach", FAILED)
        raise _RejectedTableError
    code = exit_code_of(accounts, allowed)
    if code == FAILED:
        raise _RejectedTableError
    return accounts, code


def _own_options(arguments: argparse.Namespace) -> dict[str, str]:
    """The options of the job itself that are not the default, by their flag."""
    given = {
        "--format": None if arguments.format == _DEFAULT_FORM else arguments.format,
        "--csv-safe": "true" if arguments.csv_safe else None,
        "--max-errors": None if arguments.max_errors is None else str(arguments.max_errors),
    }
    return {flag: text for flag, text in given.items() if text is not None}


def _accounts_folder(part: Place) -> str:
    return f"{part.uri}/_accounts"


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as all commands do."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_fail(f"{message.removeprefix('argument ')}; --help explains the options", USAGE))


def argument_parser() -> argparse.ArgumentParser:
    """The options of the job."""
    parser = _Parser(
        prog="kafkawire spark tables",
        description="Read Kafka's own logs as tables with Apache Spark.",
        epilog="Exit code: 0 if everything was decoded, 3 if there were errors but no more than --max-errors, "
        "1 for a failure, 2 for wrong usage.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--log", action="append", required=True, help="A log: folder, file, pattern or URI; repeatable."
    )
    parser.add_argument("--table", required=True, help="Name of the table; kafkawire tables --list lists them all.")
    parser.add_argument("--out", required=True, metavar="PATH", help="Folder or URI to write.")
    parser.add_argument(
        "-o",
        "--format",
        type=_form,
        choices=tuple(_SPARK_FORMATS),
        default=_DEFAULT_FORM,
        help="Form of the files: parquet, jsonl (JSON lines) or csv. Default: parquet.",
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="CSV for spreadsheets: ' before texts that begin with = + - @, which are formulas in a spreadsheet.",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="Replace an existing table when everything is written."
    )
    parser.add_argument(
        "--max-errors",
        type=_count,
        metavar="N",
        help="Fail if there are more errors; by default any number is allowed.",
    )
    parser.add_argument(
        "--manifest",
        action="store_true",
        help="Write _manifest.json into the folder: SHA-256 and counts of every input, versions, options, and SHA-256 "
        "of the files. The driver reads the inputs twice for it.",
    )
    parser.add_argument(
        "--master", help="Spark's master; by default that of spark-submit, or all cores of this machine."
    )
    for each in _OPTIONS:
        if each.kind.type is bool:
            parser.add_argument(each.flag, dest=each.spelling, action=_flag_action(each), help=each.help)
        else:
            shown = f"{each.help} Default: {each.shown_default}." if each.shown_default else each.help
            parser.add_argument(each.flag, dest=each.spelling, metavar=each.kind.metavar, help=shown)
    return parser


def _flag_action(option: Option) -> type[argparse.Action] | str:
    return argparse.BooleanOptionalAction if option.default else "store_true"


def _form(text: str) -> str:
    if text == "json":
        raise argparse.ArgumentTypeError("a table of Spark is many files, so none can be one JSON document: use jsonl")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of errors")
    return int(text)


def _options(arguments: argparse.Namespace) -> dict[str, str]:
    """The given options of the data source, as texts."""
    given: dict[str, object] = vars(arguments)
    own = {"table": str(arguments.table)}
    return own | {
        each.spark_name: str(value).lower() if each.kind.type is bool else str(value)
        for each in _OPTIONS
        if (value := given[each.spelling]) is not None
    }


def _holds_logs(out: str, reading: Reading) -> bool:
    """Whether files that the paths lead to, of any table and name, are in the folder that is replaced."""
    return any(
        _comparable(file.path).is_relative_to(_comparable(out)) for file in find_logs(reading.options.paths).files
    )


def _absolute(path: str) -> str:
    """An absolute path: a session that is already running has another working directory."""
    is_elsewhere = "://" in path or path.startswith("file:")
    return path if is_elsewhere or not path else os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118 may end with /


def _comparable(path: str) -> PurePosixPath:
    """A path to compare with others: links are resolved, and the schemes of one store are equal."""
    _, is_uri, rest = path.removeprefix("file:").removeprefix("//").partition("://")
    return PurePosixPath(rest) if is_uri else PurePosixPath(os.path.realpath(path.removeprefix("file:")))


def _write(arguments: argparse.Namespace, options: Mapping[str, str], part: Place) -> None:
    running = SparkSession.getActiveSession()
    builder = SparkSession.Builder().appName(f"kafkawire {arguments.table}")
    if not sys.stderr.isatty():
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    if running is None and os.name == "posix" and not SparkConf().contains(_UNIX_SOCKETS):
        builder = builder.config(_UNIX_SOCKETS, "true")
    spark = running or (builder.master(arguments.master) if arguments.master else builder).getOrCreate()
    if running is None and spark.conf.get(_LOG_LEVEL, None) is None:
        spark.sparkContext.setLogLevel("FATAL")  # so that the error is the last line
    try:
        register(spark)
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")  # other programs do not read INT96
        own = {**options, "accountsPath": _accounts_folder(part)}
        rows = spark.read.format("kafka-log").options(**own).load(arguments.log)
        flat = _without_nesting(rows, safe=arguments.csv_safe) if arguments.format == "csv" else rows
        writer = flat.write.mode("error").format(_SPARK_FORMATS[arguments.format]).option(_WRITES_SUCCESS_FILE, "false")
        writer.options(header="true", ignoreNullFields="false", **_TIMES_AS_TEXT).save(part.uri)
    finally:
        if running is None:
            spark.stop()


def _without_nesting(rows: DataFrame, *, safe: bool) -> DataFrame:
    """CSV has no lists and no bytes: they become JSON and base64. If ``safe``, formulas are quoted."""
    columns = []
    for field in rows.schema:
        column = rows[field.name]
        if isinstance(field.dataType, ArrayType | StructType):
            column = sql.to_json(column)
        elif isinstance(field.dataType, BinaryType):
            column = sql.base64(column)
        if safe and not isinstance(field.dataType, NumericType | BooleanType | TimestampType):
            formula = column.rlike(FORMULA) & ~column.rlike(NUMBER)
            column = sql.when(formula, sql.concat(sql.lit(QUOTE), column)).otherwise(column)
        columns.append(column.alias(field.name))
    return rows.select(columns)


def exit_code_of(accounts: Accounts, allowed: int | None) -> int:
    """Print the accounts, and return the exit code that follows from them.

    Args:
        accounts: of all tasks.
        allowed: the maximum number of errors; None for any number.
    """
    sys.stderr.write(f"{accounts.line()}\n")
    try:
        accounts.check_errors(allowed)
    except TooManyErrorsError as error:
        return _fail(str(error), FAILED)
    return SOME_FAILED if accounts.errors else DONE


def reason_of(text: str) -> str:
    """The reason in an error that came through Java: kafkawire's own message, else the innermost cause."""
    if "JAVA_GATEWAY_EXITED" in text:
        return "Spark could not start Java: Java 17 or newer must be on the path, or in the folder that JAVA_HOME names"
    causes: list[str] = _OWN_ERROR.findall(text) or _CAUSE.findall(text)
    return causes[-1] if causes else text.strip().partition("\n")[0]


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"kafkawire: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
