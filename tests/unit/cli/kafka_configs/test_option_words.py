"""Words are read as joptsimple reads them."""

from __future__ import annotations

import pytest

from kafkawire.cli.kafka_configs.option_words import Option, ReadOptions, read_options
from kafkawire.cli.kafka_configs.refusals import RefusedError

OPTIONS = (Option("describe", takes_value=False), Option("topic"), Option("delete-config", separator=","))


def read(*words: str) -> ReadOptions:
    return read_options(words, OPTIONS)


@pytest.mark.parametrize(
    "words", [["--topic", "t1"], ["-topic", "t1"], ["--topic=t1"], ["stray", "-", "--topic", "t1", "--", "--nosuch"]]
)
def test_an_option_has_one_or_two_dashes_and_other_words_count_for_nothing(words: list[str]) -> None:
    assert read(*words).value("topic") == "t1"


def test_a_value_is_the_next_word_whatever_it_is() -> None:
    assert read("--topic", "--describe").value("topic") == "--describe"
    assert "describe" not in read("--topic", "--describe")


def test_an_empty_value_after_an_equals_sign_is_a_value() -> None:
    assert read("--topic=", "t1").value("topic") == ""


def test_a_value_after_a_flag_counts_for_nothing() -> None:
    assert "describe" in read("--describe=no")


def test_a_separated_value_has_its_parts_without_the_empty_ones() -> None:
    assert read("--delete-config", "a,,b", "--delete-config=,").values("delete-config") == ("a", "b", ",")


def test_names_are_in_the_order_of_the_words() -> None:
    assert read("--topic", "a", "--describe", "--topic", "b").names() == ("topic", "describe", "topic")


@pytest.mark.parametrize(
    ("words", "of_kafka", "ours"),
    [
        (["--descr"], "descr is not a recognized option", "there is no option --descr; did you mean --describe?"),
        (["-x"], "x is not a recognized option", "there is no option -x; see --bootstrap-server HOST:PORT --help"),
        (
            ["-xy=3"],
            "x is not a recognized option",
            "there is no option -xy; see --bootstrap-server HOST:PORT --help",
        ),
        (["--topic"], "Option topic requires an argument", "--topic lacks its value; add it"),
    ],
)
def test_words_that_are_no_options_are_refused(words: list[str], of_kafka: str, ours: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read(*words)
    assert (refused.value.of_kafka, refused.value.ours) == (of_kafka, ours)


def test_one_value_of_an_option_that_is_given_twice_is_refused() -> None:
    with pytest.raises(RefusedError, match="--topic is given more than once; give it once"):
        read("--topic", "a", "--topic", "b").value("topic")
