"""The rules of redaction, as data."""
