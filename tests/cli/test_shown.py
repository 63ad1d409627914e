"""What ``publius inspect --release`` says of rows."""

from manifests import drawn, summary_of, values_of


def test_rows_of_a_summary_are_said_to_be_made_up(run, tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "a"}\n')
    summary = drawn(tmp_path / "summary", summary_of(), [{"about": "bus", "bag": {"bus": 1}}])
    code, out, err = run("inspect", texts, "--release", summary)
    assert code == 0
    assert "about bus" in out
    assert err == "Rows of a summary are made up: they are nobody's.\n"
    labels = drawn(tmp_path / "labels", values_of(), [{"id": "1", "label": "open"}])
    assert "secret order" in run("inspect", texts, "--release", labels)[2]
