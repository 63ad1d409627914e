"""``publius`` and ``python -m publius``. Worker processes import it once more, so by itself it imports nothing."""


def main() -> None:
    """Run the command line."""
    from publius.cli import main as run

    run()


if __name__ == "__main__":
    main()
