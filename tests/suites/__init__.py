"""Test suites of other projects, with the embedded broker in place of theirs."""
