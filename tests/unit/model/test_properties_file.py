from __future__ import annotations

import pytest

from kafkawire.model.properties_file import PropertiesError, parse_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=b\nc: d\ne f", {"a": "b", "c": "d", "e": "f"}),
        ("# a=b\n ! c=d\n\n  \t\n e = f ", {"e": "f "}),
        ("a = = b", {"a": "= b"}),
        ("a", {"a": ""}),
        ("=b", {"": "b"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b\\\n    c\\\n# no comment", {"a": "bc# no comment"}),
        ("a=b\\", {"a": "b"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        (r"a\ b\:c\==d", {"a b:c=": "d"}),
        (r"a=\t\n\r\f\q\u0041", {"a": "\t\n\r\fqA"}),
        (r"a=\ud83d\ude00", {"a": "😀"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        ('jaas=x required user_a="b";', {"jaas": 'x required user_a="b";'}),
        ("a\\\n=b", {"a": "b"}),
        ("\\\n\\\na=b", {"a": "b"}),
    ],
)
def test_files_are_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


@pytest.mark.parametrize("text", [r"a=\u12", r"a=\u12g4", r"\u=b"])
def test_escapes_that_are_none_are_errors(text: str) -> None:
    with pytest.raises(PropertiesError, match="four hexadecimal digits"):
        parse_properties(text)


def test_errors_hold_no_values() -> None:
    with pytest.raises(PropertiesError) as raised:
        parse_properties(r"password=secret\u")
    assert "secret" not in str(raised.value)
    assert "the value of password" in str(raised.value)
