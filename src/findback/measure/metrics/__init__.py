"""Ranking metrics, one noun a file."""
