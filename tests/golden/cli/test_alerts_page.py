"""The page about alerts has every rule as the code has it.

``pytest tests/golden/cli --update-golden`` writes the table again.
"""

from __future__ import annotations

import re
from pathlib import Path

from kafkawire.logs import ALERT_RULES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "alerts.md"
MARKS = re.compile(r"(<!-- rules: made .*?-->\n)(.*?)(<!-- end of rules -->)", flags=re.DOTALL)


def test_the_page_has_all_rules(update_golden: bool) -> None:
    head = ["| rule | severity | what it finds | what to do |", "| --- | --- | --- | --- |"]
    lines = [f"| `{rule.id}` | {rule.severity} | {rule.title} | {rule.remedy} |" for rule in ALERT_RULES.values()]
    expected = "\n" + "\n".join([*head, *lines]) + "\n\n"
    text = PAGE.read_text("utf-8")
    if update_golden:
        PAGE.write_text(MARKS.sub(lambda found: found[1] + expected + found[3], text), "utf-8")
        text = PAGE.read_text("utf-8")
    found = MARKS.search(text)
    assert found is not None
    assert found[2] == expected, "pytest tests/golden/cli --update-golden writes the page"
