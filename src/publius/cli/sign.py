"""``publius sign`` and ``publius verify``: the page to sign, and whether it belongs to a release."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from publius.cli import console
from publius.cli.parsing import AsRead, ByAuthors, File, Folder, Help, Json
from publius.settings import People, Reading


def sign(
    release: Annotated[File, Help("Folder of a release that was made here.")],
    *,
    output: Annotated[File, Help("The curator's page (HTML): a new file.")],
    public_page: Annotated[File | None, Help("One for recipients: nothing of the private file.")] = None,
    purpose: Annotated[str | None, Help("What the release may be used for.")] = None,
    recipient: Annotated[str | None, Help("Who receives it.")] = None,
    contact: Annotated[str | None, Help("Whom recipients may ask.")] = None,
    review: Annotated[str | None, Help("When to look at it again, YYYY-MM-DD.")] = None,
    texts: Annotated[File | None, Help("Private file: authors and small cells, for you.")] = None,
    evaluation: Annotated[Folder | None, Help("Of publius evaluate, at the release's epsilon.")] = None,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Write the page to sign for a release."""
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


def verify(
    release: Annotated[File, Help("Folder of a release.")],
    page: Annotated[File | None, Help("A page that publius sign has written.")] = None,
    *,
    json: Json = False,
) -> int | None:
    """Check that a release and its page belong together.

    Exit 0: whole, and the page is its own. 1: the page is of another release, or was changed. 65: the folder was changed.
    """
    from publius.releases.sign import verify as check

    found = check(release, page)
    drawn = "as they were drawn" if found.here else "as its manifest names them"
    said = [f"Whole: {found.files} files {drawn}, nothing more."]
    if found.page is not None:
        said += [
            "The page is of this release." if found.page else "The page is of ANOTHER release.",
            "The page is as it was signed." if found.as_signed
            else "The page was CHANGED, or is signed by hand: sign again." if found.here
            else f"Compare what it says with the manifest: {found.promise}",
        ]  # fmt: skip
    said.append(
        "Drawn by this installation." if found.here
        else "Not in the register of this installation: who wrote its manifest cannot be told."
    )  # fmt: skip
    console.answer(asdict(found), *said, json=json)
    return 1 if False in (found.page, found.as_signed) else None
