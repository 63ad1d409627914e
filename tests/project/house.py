"""Draw the rooms of the package and who imports whom: ``python tests/project/house.py [CHECKOUT]``."""

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path


def drawn(package: Path) -> str:
    """A line for each room: files, lines, and the rooms that it imports, with how many times."""
    size, imports = defaultdict(lambda: [0, 0]), defaultdict(Counter)
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        room = path.relative_to(package).parts[0].removesuffix(".py")
        size[room][0] += 1
        size[room][1] += source.count("\n")
        for node in ast.walk(ast.parse(source)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                if parts[0] == "publius" and len(parts) > 1 and parts[1] != room:
                    imports[room][parts[1]] += 1
    below: dict[str, int] = {}

    def depth(room: str, path: tuple[str, ...] = ()) -> int:
        if room in path:
            return 0
        if room not in below:
            below[room] = 1 + max((depth(each, (*path, room)) for each in imports[room]), default=-1)
        return below[room]

    lines = [f"{'room':<14}{'files':>6}{'lines':>8}  imports"]
    for room in sorted(size, key=lambda each: (depth(each), each)):
        files, count = size[room]
        arrows = ", ".join(f"{name} {times}" for name, times in sorted(imports[room].items()))
        lines.append(f"{room:<14}{files:>6}{count:>8,}  {arrows}")
    total = sum(count for _, count in size.values())
    return "\n".join([*lines, f"{'all':<14}{sum(files for files, _ in size.values()):>6}{total:>8,}"])


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    print(drawn(root / "src" / "publius"))
