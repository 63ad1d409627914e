"""Every public function that makes floats with randomness sees no document, or is on the grid, or promises nothing.

The low bits of a float that was made from a document and noise betray the document.
"""

import ast
from functools import cache

from publius.mechanisms.registry import KERNELS, kernel_class
from source_imports import FILES, PACKAGE, tree_of

NOT_THE_LIBRARY = {"audit", "evaluation"}  # what looks at public texts and synthetic worlds
RANDOMNESS = {"rng", "rngs", "noise", "key", "run_key", "generator"}

NOISE_ONLY = {
    "Kernel.noise", "NoisyWords.noise", "AbstractFinite.noise",
    *(f"{kind.__name__}.noise" for kind in map(kernel_class, KERNELS) if "noise" in vars(kind)),
    "AbstractNoise.sample", "EuclideanLaplace.sample", "ManhattanLaplace.sample",
    "deep_uniform", "standard_normal", "StandardGamma.sample", "StandardGamma.upper_tail",
    "StandardGamma.lower_tail",
}  # fmt: skip
ON_THE_GRID = {"Grid.sum", "randomize_bag"}
DATA = {
    "vectors", "words", "text", "texts", "documents", "document", "bag", "bags", "asked", "positions", "X",
}  # fmt: skip


def public_functions():
    """(name, node) of every public function and method."""
    for path in FILES:
        if not NOT_THE_LIBRARY & set(path.relative_to(PACKAGE).parts):
            module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts[-2:])
            yield from inside(tree_of(path), "", module)


def inside(node, prefix, module):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from inside(child, f"{child.name}.", module)
        elif isinstance(child, ast.FunctionDef) and not child.name.startswith("_"):
            yield prefix + child.name, module, child


def parameters(function):
    arguments = function.args
    return {each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}


@cache
def floats_with_randomness():
    return [*_floats_with_randomness()]


def _floats_with_randomness():
    for name, _, function in public_functions():
        returned = ast.unparse(function.returns) if function.returns else ""
        if "loat" in returned and parameters(function) & RANDOMNESS:
            yield name, function


def test_every_one_is_listed():
    found, listed = set(dict(floats_with_randomness())), NOISE_ONLY | ON_THE_GRID
    assert found == listed, (
        "NOISE_ONLY is of functions that see no document, ON_THE_GRID of those that round what they release"
    )


def test_noise_sees_no_document():
    for name, function in floats_with_randomness():
        assert bool(parameters(function) & DATA) == (name in ON_THE_GRID), name


def test_what_is_on_the_grid_says_so():
    for name, function in floats_with_randomness():
        if name in ON_THE_GRID:
            assert "grid" in ast.get_docstring(function) or name == "Grid.sum"
