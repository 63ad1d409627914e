"""What the tests share."""

import sys

import pytest

from publius.cli import main


@pytest.fixture
def publius(tmp_path, monkeypatch, capsys):
    """Run the command line: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["publius", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))
    return run
