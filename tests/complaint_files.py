"""Files of made-up complaints as people have them: separated by semicolons, in Latin-1, with odd rows among them."""

import csv
import io

from publius.noise.randomness import seeded_rng

TOPICS = {
    "card": "card payment charged refund statement bank fee interest balance credit limit purchase merchant".split(),
    "loan": "loan mortgage house monthly rate application approved officer income closing lender term".split(),
    "phone": "phone number call line signal broken contract provider roaming network mobile message".split(),
}
COMMON = "nobody answered letter called manager office waited weeks wrote again promised told problem service".split()
FRENCH = "le colis est arrivé abîmé et personne ne répond à mes messages depuis la semaine dernière"
GERMAN = "die Lieferung kam beschädigt an und seit letzter Woche antwortet niemand auf meine Nachrichten, sehr schade"
EMOJI = "&#128545;"  # as forms store it that know Latin-1 only


def complaints(count, seed, *, authors=5, shortest=20, longest=60, topics=("card", "loan")):
    """Rows of id, author, topic and complaint: six words in ten of the topic, the others the author's habits."""
    rng = seeded_rng(seed)
    for number in range(count):
        topic = topics[number // authors % len(topics)]
        own = COMMON[number % authors * 2 :][:4]
        size = int(rng.integers(shortest, longest + 1))
        words = [
            pool[int(place * len(pool))]
            for pick, place in rng.random((size, 2)).tolist()
            for pool in (TOPICS[topic] if pick < 0.6 else own,)
        ]
        yield {
            "id": f"r{number}", "author": f"a{number % authors}", "topic": topic, "complaint": " ".join(words),
        }  # fmt: skip


def as_given(count=200, seed=1, *, large=1_000_000, **options):
    """Rows of id and complaint as a curator has them: empty ones, emoji, one of a megabyte, two other languages."""
    found = [{"id": row["id"], "complaint": row["complaint"]} for row in complaints(count, seed, **options)]
    long = ("charged again " * (large // 14))[:large]
    odd = {3: "", 7: long, 9: FRENCH, 12: GERMAN, 15: f"{EMOJI} refund now {EMOJI}", 20: "   "}
    for place, complaint in odd.items():
        found[place]["complaint"] = complaint
    return found


def table(rows, *, delimiter=";", encoding="iso-8859-1"):
    """The rows as the bytes of a table."""
    rows = list(rows)
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return sheet.getvalue().encode(encoding)
