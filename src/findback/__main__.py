"""Run findback as `python -m findback`."""

from findback.cli.main import main

main()
