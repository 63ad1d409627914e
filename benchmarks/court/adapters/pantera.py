"""pypantera: the wheel's modules under the names it installs, one word a text."""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serve import main

_EMBEDDING, _SAMPLING = "src.EmbeddingPerturbationMechanism", "src.SamplingPerturbationMechanism"


def maker(module, name, **more):
    def make(world, epsilon):
        folder = tempfile.mkdtemp()
        place = world.word2vec(Path(folder, "vectors.txt"), header=False)
        mechanism = getattr(import_module(module), name)({"embPath": place, "epsilon": epsilon, **more})
        if module.startswith(_EMBEDDING):
            return lambda word: mechanism.processText(mechanism.noisyEmb([word]))
        return lambda word: mechanism.processText([word])

    return make


if __name__ == "__main__":
    main(
        {
            "CMP": maker(f"{_EMBEDDING}.cmp", "CMP"),
            "Mahalanobis": maker(f"{_EMBEDDING}.mahalanobis", "Mahalanobis", lam=0.9),
            "VickreyCMP": maker(f"{_EMBEDDING}.vickrey", "VickreyCMP", t=0.5),
            "SanText": maker(f"{_SAMPLING}.santext", "SanText"),
            "CusText": maker(f"{_SAMPLING}.custext", "CusText", k=4, distance="euclidean"),
            "TEM": maker(f"{_SAMPLING}.tem", "TEM", beta=0.001),
            "TEM-half": maker(f"{_SAMPLING}.tem", "TEM", beta=0.5),
        }
    )
