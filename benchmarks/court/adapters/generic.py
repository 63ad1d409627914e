"""Libraries of differential privacy: a word as one of a list of categories, or as a number."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serve import main


def ibm(name):
    def make(world, epsilon):
        from diffprivlib import mechanisms

        if name in ("Exponential", "PermuteAndFlip"):
            words, vectors = world.words, world.vectors
            widest = max(math.dist(x, y) for x in vectors for y in vectors)
            made = {
                word: getattr(mechanisms, name)(
                    epsilon=epsilon, sensitivity=widest, utility=[-math.dist(x, y) for y in vectors], candidates=words
                )
                for word, x in zip(words, vectors, strict=True)
            }
            return lambda word: made[word].randomise()
        bounds = {"lower": -20.0, "upper": 20.0} if name == "Snapping" else {}
        mechanism = getattr(mechanisms, name)(epsilon=epsilon, sensitivity=1, **bounds)
        places = {word: place for place, word in enumerate(world.words)}
        kind = int if name == "Geometric" else float
        return lambda word: mechanism.randomise(kind(places[word]))

    return make


def frequency(name):
    def make(world, epsilon):
        from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE

        clients = {
            "GRR": lambda place, k: int(GRR.GRR_Client(place, k, epsilon)),
            "SUE": lambda place, k: [int(bit) for bit in UE.UE_Client(place, k, epsilon, False)],
            "OUE": lambda place, k: [int(bit) for bit in UE.UE_Client(place, k, epsilon, True)],
            "SS": lambda place, k: sorted(int(each) for each in SS.SS_Client(place, k, epsilon)),
        }
        places = {word: place for place, word in enumerate(world.words)}
        return lambda word: clients[name](places[word], len(places))

    return make


def opendp(name):
    def make(world, epsilon):
        import opendp.prelude as dp

        dp.enable_features("contrib")
        places = {word: place for place, word in enumerate(world.words)}
        if name == "randomized_response":
            k = len(places)
            prob = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
            return dp.m.make_randomized_response(world.words, prob)
        kind, T = (int, int) if name == "geometric" else (float, float)
        given = {} if kind is int else {"nan": False}
        mechanism = dp.m.make_laplace(dp.atom_domain(T=T, **given), dp.absolute_distance(T=T), scale=1 / epsilon)
        return lambda word: mechanism(kind(places[word]))

    return make


IBM = ("Exponential", "PermuteAndFlip", "Geometric", "Laplace", "Snapping")
main(
    {
        **{f"diffprivlib-{name}": ibm(name) for name in IBM},
        **{f"ldpy-{name}": frequency(name) for name in ("GRR", "SUE", "OUE", "SS")},
        **{f"opendp-{name}": opendp(name) for name in ("randomized_response", "geometric", "laplace")},
    }
)
