"""mldp-text: its word mechanisms on our words and vectors, exact search, other arguments as they are by default."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serve import main


def vectors_of(world):
    from gensim.models import KeyedVectors

    with tempfile.TemporaryDirectory() as folder:
        return KeyedVectors.load_word2vec_format(world.word2vec(Path(folder, "vectors.txt")), binary=False)


def maker(name, **more):
    def make(world, epsilon):
        import mldp_text

        given = {"embedding_matrix": vectors_of(world), "dim": len(world.vectors[0]), "use_faiss": False}
        vocabulary = {"vocab": set(world.words)} if more.get("own_vocabulary") else {}
        return mldp_text.get_mechanism(name, epsilon=epsilon, **given, **vocabulary).replace_word

    return make


main(
    {
        "multivariate_calibrated": maker("multivariate_calibrated"),
        "mahalanobis": maker("mahalanobis"),
        "vickrey": maker("vickrey"),
        "tem": maker("tem", own_vocabulary=True),
        "truncated_gumbel": maker("truncated_gumbel"),
    }
)
