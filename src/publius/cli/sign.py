"""``publius sign`` and ``publius verify``: the page to sign, and whether it belongs to a release."""

from __future__ import annotations

from dataclasses import asdict

from publius.cli import console
from publius.cli.parsing import AsRead, ByAuthors, File, Folder, Json
from publius.settings import People, Reading


def sign(
    release: File,
    *,
    output: File,
    public_page: File | None = None,
    purpose: str | None = None,
    recipient: str | None = None,
    contact: str | None = None,
    review: str | None = None,
    texts: File | None = None,
    evaluation: Folder | None = None,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Write the page to sign for a release.

    Args:
        release: Folder of a release that was made here.
        output: The curator's page (HTML): a new file.
        public_page: One for recipients: nothing of the private file.
        purpose: What the release may be used for.
        recipient: Who receives it.
        contact: Whom recipients may ask.
        review: When to look at it again, YYYY-MM-DD.
        texts: Private file: authors and small cells, for you.
        evaluation: Of publius evaluate, at the release's epsilon.
    """
    from publius.releases.sign import sign as write

    typed = {"purpose": purpose, "recipient": recipient, "contact": contact, "review": review}
    console.watched(
        write, release, output, texts=texts, reading=reading, people=people, evaluation=evaluation,
        public_page=public_page, **typed,
    )  # fmt: skip
    console.say(f"Page to sign: {output} (for you only).")
    if public_page is not None:
        console.say(f"Page for recipients: {public_page}.")
    if missing := [f"--{name}" for name, value in typed.items() if not value]:
        console.note(f"To be completed: {', '.join(missing)}.")
    console.say(f"Check: publius verify {release} {output}")


def verify(release: File, page: File | None = None, *, json: Json = False) -> int | None:
    """Check that a release and its page belong together.

    Exit 0: whole, and the page is its own. 1: the page is of another release, or was changed. 65: the folder was changed.

    Args:
        release: Folder of a release.
        page: A page that publius sign has written.
    """
    from publius.releases.sign import verify as check

    found = check(release, page)
    if json:
        console.as_json(asdict(found))
    else:
        drawn = "as they were drawn" if found.here else "as its manifest names them"
        console.say(f"Whole: {found.files} files {drawn}, nothing more.")
        if found.page is not None:
            console.say("The page is of this release." if found.page else "The page is of ANOTHER release.")
            console.say(
                "The page is as it was signed." if found.as_signed
                else "The page was CHANGED, or is signed by hand: sign again." if found.here
                else f"Compare what it says with the manifest: {found.promise}"
            )  # fmt: skip
        console.say(
            "Drawn by this installation." if found.here
            else "Not in the register of this installation: who wrote its manifest cannot be told."
        )  # fmt: skip
    return 1 if False in (found.page, found.as_signed) else None
