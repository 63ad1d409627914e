"""``python -m publius``."""

from publius.cli import main

main()
