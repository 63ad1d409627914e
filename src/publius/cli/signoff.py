"""``publius signoff`` and ``publius verify``: the page that someone signs, and whether it still fits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json
from publius.cli.options import Json, options
from publius.errors import UsageError, how_many
from publius.files import shown
from publius.settings import AboutSettings

if TYPE_CHECKING:
    from publius.releases.measured import Sources

Release = Annotated[Path, typer.Argument(help="Folder of a release.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("signoff")(signoff)
    app.command("verify")(verify)


@options()
def signoff(
    release: Release,
    said: AboutSettings,
    output: Annotated[
        Path | None,
        typer.Option(help="The page, FILE.html; outside the release's folder. Optional with --json."),
    ] = None,
    evaluation: Annotated[
        Path | None, typer.Option(help="Folder of the evaluation that measured this setting.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Ledger that the release was charged to.")] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Texts that publius write made from it: named on the page, and bound.")
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            help="What publius inspect --release found in the texts: stands on the curator's page only."
        ),
    ] = None,
    receivers: Annotated[
        bool,
        typer.Option(
            "--receivers",
            help="Also put receivers.html and receivers.json into the release's folder; those that are there are made "
            "anew in any case.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Write the page to sign, bound to exactly these files.

    It states what was released, promised and measured; --json prints the same for machines.
    """
    from publius.files import write_file
    from publius.releases.contents import RECEIVERS
    from publius.releases.signoff import check_signable, describe, evidence, sign_off, write_receivers

    if output is None and not json:
        raise UsageError("name the page with --output FILE.html, or print the evidence alone with --json")
    manifest = check_signable(release)
    _check_place(output, release, evaluation)
    sources = _sources(release, manifest, said, evaluation=evaluation, ledger=ledger, texts=texts, own=own)
    if said.metadata:
        describe(release)
    if receivers or (output is not None and any((release / name).exists() for name in RECEIVERS)):
        if sources.measured is not None:
            typer.echo(
                f"receivers.html, which leaves, gives what was measured on {how_many(sources.measured.texts, 'text')} "
                "as figures of public texts: where these are among the texts that are released, leave --evaluation out",
                err=True,
            )
        write_receivers(release, sources)  # an earlier one too: what is signed follows from the folder
    if output is not None:
        page = sign_off(release, sources)
        mode = 0o666 if own is None else 0o600  # measured on the private texts
        with write_file(output, mode, release=True) as file:
            file.write(page)
    if json:
        place = None if output is None else str(output)
        print_json({"output": place, **evidence(release, sources)})
        return
    _tell(release, output, None if sources.measured is None else sources.measured.verdict or "")


def _sources(
    release: Path,
    manifest: Mapping[str, Any],
    said: AboutSettings,
    *,
    evaluation: Path | None,
    ledger: Path | None,
    texts: Path | None,
    own: Path | None,
) -> Sources:
    """All that the page takes beside the release, read from the files that were named."""
    from publius.privacy.ledger import Ledger
    from publius.releases.account import About
    from publius.releases.contents import MANIFEST
    from publius.releases.digests import file_digest
    from publius.releases.measured import Budget, Sources, read_texts
    from publius.releases.of_manifest import check_statements
    from publius.releases.own_texts import OwnTexts

    check_statements(manifest)
    found = None
    if own is not None:
        found = OwnTexts.read(own)
        found.check_release(manifest, file_digest(release / MANIFEST))
    measured = None
    if evaluation is not None:
        from publius.evaluation.signed import measured_for

        measured = measured_for(manifest, evaluation)
    return Sources(
        measured=measured,
        budget=None if ledger is None else Budget.of(Ledger(ledger), manifest),
        texts=None if texts is None else read_texts(texts, release),
        own=found,
        about=About.of(said),
    )


def _check_place(output: Path | None, *bound: Path | None) -> None:
    """`UsageError` where the page would lie among the files that it binds."""
    for folder in filter(None, bound):
        if output is not None and output.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"the page cannot lie in {str(folder)!r}, whose files it binds: name another place"
            )


def _tell(release: Path, output: Path | None, verdict: str | None) -> None:
    """What to do with the page; the ``verdict`` is None without an evaluation."""
    if verdict is not None and verdict.startswith("FAIL"):
        typer.echo(f"Written to {output}: the verdict is FAIL, and the page has no place for a signature.")
    else:
        typer.echo(f"Written to {output}: open it in a browser, read it, print it, sign it.")
    if verdict is None:
        typer.echo(
            "No evaluation was given: there is no evidence that authors are hidden, and the page says so."
        )
    typer.echo(f"Whether it still fits: publius verify {release} {output}")


def verify(
    release: Release,
    page: Annotated[Path, typer.Argument(help="The sign-off, FILE.html.")],
    evaluation: Annotated[Path | None, typer.Option(help="Compare the files of the evaluation, too.")] = None,
    texts: Annotated[Path | None, typer.Option(help="Compare the written texts, too.")] = None,
    json: Json = False,
) -> None:
    """Check that a sign-off and a release belong together.

    Exits 65 if they do not. Of what another version signed only bytes are compared, and the output says so.
    """
    from publius.releases import verification
    from publius.releases.digests import digest_of, file_digests

    if page.is_dir() and not release.is_dir():
        raise UsageError(
            f"give the folder first, then the page: publius verify {shown(page)} {shown(release)}"
        )
    record = verification.verify(release, page, evaluation, texts)
    files, open_still = len(record["release"]), verification.not_bound(record)
    theirs = (
        page.absolute().parent == release.absolute()
    )  # binds what lay there before it; the signed page binds it, too
    digest = digest_of(file_digests(release) if theirs else record["release"])
    if json:
        found = {
            "ok": True, "files": files, "sha256": digest, "evaluation": evaluation is not None, "not_bound": open_still
        }  # fmt: skip
        print_json(found)
        return
    typer.echo(
        f"{page} belongs to {release}: its text and {how_many(files, 'file')} of the release are unchanged."
    )
    typer.echo(f"SHA-256 of these files together, as the page that was signed states it: {digest}")
    if open_still is not None:
        typer.echo(open_still)
    if record.get("evaluation") is None:
        typer.echo("It was made without an evaluation.")
    elif evaluation is None:
        typer.echo("The evaluation was not looked at: name it with --evaluation to compare its files, too.")
