"""Routes, one file for each page."""
