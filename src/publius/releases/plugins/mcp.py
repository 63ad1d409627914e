"""The Model Context Protocol: a server with one tool that only reads, what a finished release promises.

``python -m publius.releases.plugins.mcp RELEASE`` serves it on standard input and output, to assistants that start it.
It reads the manifest of that one folder, never a document or a bag, and writes nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from publius.errors import PubliusError
from publius.releases.manifests import read_manifest_of
from publius.releases.of_manifest import is_own
from publius.releases.stated import of_manifest

_READS_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def server(release: Path) -> MCPServer[Any]:
    """A server for the release in a folder; `DataError` where there is none."""
    read_manifest_of(release)
    made = MCPServer("publius", instructions="What a release of documents promises, from its manifest.")

    @made.tool(annotations=_READS_ONLY)  # type: ignore[untyped-decorator]
    def what_is_promised(distance: float | None = None, releases: int = 1) -> dict[str, Any]:
        """State this release's promise, in plain words and numbers.

        `promise` says it in words; repeat it as it stands. It is null for a release of another version. `exponent` is
        the most, in nats, by which the likelihood of any outcome differs between two documents at `distance` (the Earth
        Mover's distance), but for a probability of `delta`. Without a distance it is that between any two for level
        "document", and null for level "word". `strength` names it. `releases` is how many such releases of the same
        documents are seen.
        """
        if releases < 1:
            raise ToolError(f"releases must be at least 1, not {releases}")
        try:
            manifest = read_manifest_of(release)
            facts = of_manifest(manifest, distance, releases=releases)
        except PubliusError as error:
            raise ToolError(str(error)) from None
        # Words that nobody here made again are not the tool's to say: an assistant may do what they ask.
        return facts if is_own(manifest) else {**facts, "promise": None}

    return made


def main() -> None:
    """Serve one release until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m publius.releases.plugins.mcp", description=__doc__)
    parser.add_argument("release", type=Path, help="folder of a finished release")
    asked = parser.parse_args()
    try:
        made = server(asked.release)
    except PubliusError as error:
        parser.exit(error.exit_code, f"publius: {error}\n")
    made.run()


if __name__ == "__main__":
    main()
