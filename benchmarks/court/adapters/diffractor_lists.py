"""dp-diffractor: one list, made by the tool from our words, which lie where it keeps a model that it has fetched."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import language_data
from serve import World, main

MODEL = "glove-wiki-gigaword-300"


def prepared(world):
    """Its cache, with our words under the name of one of its models."""
    language_data.provide()
    home = Path(tempfile.mkdtemp())
    os.environ["HOME"] = str(home)
    (home / ".cache" / "diffractor").mkdir(parents=True)
    world.word2vec(home / ".cache" / "diffractor" / f"{MODEL}.txt")


def maker(method, *, fresh):
    def make(world, epsilon):
        prepared(world)
        from diffractor import Diffractor, DiffractorConfig

        seed = {"seed": int.from_bytes(os.urandom(8), "little")} if fresh else {}
        config = DiffractorConfig(epsilon=epsilon, method=method, verbose=False, **seed)
        tool = Diffractor(config, [MODEL])
        return lambda text: tool.rewrite(text)[0]

    return make


def order(path):
    """The list that the tool makes of our words, one a line."""
    world = World(path)
    prepared(world)
    from diffractor.utils import EmbeddingManager

    return EmbeddingManager([str(Path.home() / ".cache" / "diffractor" / f"{MODEL}.txt")]).lists[0]


if __name__ == "__main__":
    if sys.argv[1] == "order":
        found = order(sys.argv[2])
        print("\n".join(found))
    else:
        main(
            {
                "geometric": maker("geometric", fresh=False),
                "geometric-fresh": maker("geometric", fresh=True),
                "TEM": maker("TEM", fresh=True),
            }
        )
