"""The names that ``ssl.principal.mapping.rules`` make of subjects (KIP-371)."""

from __future__ import annotations

import pytest

from kafkawire.model.principal_mapping import UnsupportedRuleError, principal_name_of

SERVICE = "CN=kafka-server1,OU=KAFKA"
USER = "CN=Alice,OU=Users,O=Example,C=DE"
CASES = [
    (SERVICE, "DEFAULT", SERVICE),
    (SERVICE, "", None),
    (SERVICE, "RULE:^CN=(.*?),OU=KAFKA.*$/$1/", "kafka-server1"),
    (USER, "RULE:^CN=(.*?),OU=(.*?),O=(.*?),C=(.*?)$/$1@$2/L, DEFAULT", "alice@users"),
    (USER, "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U", "ALICE"),
    (USER, "RULE:^OU=(.*)$/$1/,DEFAULT", USER),
    (USER, "RULE:^OU=(.*)$/$1/", None),
    (USER, r"RULE:^CN=(.*?),.*$/$1\/x/", "Alice/x"),
    (USER, "RULE:^CN=(.*?),.*$/$12/", "Alice2"),
    (USER, "RULE:^CN=(.*?),.*$/$1-$2/", "Alice-$2"),
    ("CN=a", "RULE:.*/x/", "xx"),
]
"""Subject, rules, name."""


@pytest.mark.parametrize(("subject", "rules", "name"), CASES)
def test_the_first_rule_about_a_subject_makes_its_name(subject: str, rules: str, name: str | None) -> None:
    assert principal_name_of(subject, rules) == name


@pytest.mark.parametrize("rules", ["RULE:^CN=(.*?)$", "RULE:(/x/", r"RULE:\p{L}+/x/", "RULE:(?<name>.*)/${name}/", "x"])
def test_a_rule_that_python_cannot_follow_is_named(rules: str) -> None:
    with pytest.raises(UnsupportedRuleError):
        principal_name_of("CN=a", rules)
