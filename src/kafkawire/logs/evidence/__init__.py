"""Evidence for audits: what a result was made from, and whether that is still there unchanged."""
