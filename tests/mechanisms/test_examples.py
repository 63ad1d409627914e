"""The examples in the docstrings of the units: they run, and say what comes out."""

import doctest

import pytest

import publius

NONE = {  # files, packaged vectors or an encoder: their examples are code blocks of the docs; errors and a version
    "Clusters", "Document", "Names", "Subjects", "open_corpus", "protect_corpus", "read_release", "__version__",
    "PubliusError", "BudgetError", "DataError", "PolicyError", "StorageError", "UsageError",
}  # fmt: skip
NAMES = sorted({*publius.__all__} - NONE)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_public_name_runs(name, capsys):
    tests = [
        test for test in doctest.DocTestFinder(exclude_empty=True).find(getattr(publius, name), name) if test.examples
    ]
    assert tests, f"{name} has no example"
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test)
    assert runner.failures == 0, capsys.readouterr().out
