"""What no author wrote goes, what one wrote stays, in a time linear in the text."""

import time

import pytest

from publius.documents.clean import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain, as it is", "plain, as it is"), ("a &amp; b &lt;3 &eacute;", "a & b <3 é"),
     ('The <span style="color:red">book</span> was late.<br/>Twice.', "The book was late.\nTwice."),
     ("<style>p {color: red}</style><p>a</p><!-- b -->", "\na\n"), ("<script>steal()", ""),
     ("1 < 2 and x > y, I <3 you <john@post.example>", "1 < 2 and x > y, I <3 you <john@post.example>"),
     ("of\ufb01ce, ｆｕｌｌ", "office, full"), ("long\xadest", "longest"),
     ("com-\nplaint, well-known, a - b", "complaint, well-known, a - b"), ("pages 3-\n4", "pages 3-\n4"),
     ("a\0b", "ab"), ("[NAME] met <PERSON_1> at XXXX, [REDACTED], [name 2], ██", "  met   at  ,  ,  ,  "),
     ("[sic] and [note]", "[sic] and [note]"), ("a\n> b\n> c\nd", "a\nd"),
     ("a\nOn Monday x wrote:\n> b\n", "a\n"), ("a\n-----Original Message-----\nb", "a\n"),
     ("I wrote: this", "I wrote: this")],
)  # fmt: skip
def test_a_text_made_clean(text, expected):
    assert clean(text) == expected if "[NAME]" not in text else clean(text).split() == expected.split()


def test_quotes_are_kept_where_asked():
    assert clean("a\n> b", keep_quotes=True) == "a\n> b"


@pytest.mark.parametrize(
    "text", ["plain", "a\n> b\n> c", "<p>a &amp;lt;b&gt;", "[NAME] x", "-\n-\na-\nb", "ﬁ\xad\xad-\n"]
)
def test_a_text_alone_decides(text):
    assert clean(text) == clean(text)


@pytest.mark.parametrize(
    "piece",
    ["<", "<b", "<p ", "<!--", "<script>", "&", "&#", ">", "\n>", "-", "-\n", " ", "[A", "[", "X", "<A_",
     "\u0301", "wrote:\n", "--\n", "{{A", "\u0130", "&amp;"],
)  # fmt: skip
def test_time_is_linear_in_the_text(piece):
    def seconds(size):
        text = piece * (size // len(piece))
        start = time.perf_counter()
        clean(text)
        return time.perf_counter() - start

    seconds(1_000)
    short = max(min(seconds(50_000) for _ in range(2)), 1e-3)
    assert seconds(400_000) < 40 * short
