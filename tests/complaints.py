"""Made-up letters of complaint, as people have them: a table to release, and an older one with authors and topics."""

import csv
import io

from publius.noise.randomness import seeded_rng

TOPICS = {
    "card": "card payment charged refund statement bank fee interest balance credit limit purchase merchant".split(),
    "loan": "loan mortgage house monthly rate application approved officer income closing lender term".split(),
    "parcel": "parcel delivery courier address package damaged warehouse driver shipment box tracking arrived".split(),
}
COMMON = (
    "nobody answered letter called manager office waited weeks wrote again promised told problem service angry money "
    "people time day money help customer family evening telephone"
).split()
AUTHORS = ("ada", "ben", "cyd", "dot", "eve")
FRENCH = "le colis est arrivé abîmé et personne ne répond à mes messages depuis la semaine dernière".split()
GERMAN = (
    "das paket kam beschädigt an und niemand antwortet seit letzter woche auf meine vielen briefe".split()
)
EMOJI = "\N{POUTING FACE}"
LONGEST = 2**20
EMPTY, ALL = (5, 50, 120), 200


def letter(rng, topic, author, count):
    """Half of the words the topic's, a sixth the author's own, the rest anyone's."""
    own = COMMON[AUTHORS.index(author) * 5 :][:5]
    pools = rng.choice(3, count, p=[0.5, 0.17, 0.33]).tolist()
    return " ".join(
        pool[int(rng.integers(len(pool)))] for pool in ([TOPICS[topic], own, COMMON][kind] for kind in pools)
    )


def older(count=240, seed=2):
    """Rows with customer, product and complaint, UTF-8 with emoji in every tenth."""
    rng = seeded_rng(seed)
    for number in range(count):
        topic, author = list(TOPICS)[number // len(AUTHORS) % 3], AUTHORS[number % len(AUTHORS)]
        text = letter(rng, topic, author, int(rng.integers(20, 300)))
        yield {
            "customer": author,
            "product": topic,
            "complaint": text + (f" {EMOJI}" if number % 10 == 0 else ""),
        }


def complaints(seed=1):
    """Rows with id and complaint: 20 to 300 words, some empty, one of 1 MB, sixteen in other languages, some emoji.

    How long a letter is depends on nothing that it says.
    """
    rng = seeded_rng(seed)
    for number in range(ALL):
        topic, author = list(TOPICS)[number % 3], AUTHORS[int(rng.integers(len(AUTHORS)))]
        count = int(rng.integers(20, 301))
        text = letter(rng, topic, author, count)
        if number in EMPTY:
            text = ""
        elif number == 77:
            text = " ".join([text] * (LONGEST // len(text)))
        elif number % 25 in (3, 4):
            words = FRENCH if number % 25 == 3 else GERMAN
            text = " ".join(words[int(rng.integers(len(words)))] for _ in range(count))
        elif number % 10 == 0:
            text += f" {EMOJI}"
        yield {"id": f"r{number}", "complaint": text}


def store(path, records, *, delimiter=";", encoding="iso-8859-1"):
    """A table; what the encoding cannot hold, emoji in Latin-1, becomes a character reference, as web forms do it."""
    records = [
        {name: value.encode(encoding, "xmlcharrefreplace").decode(encoding) for name, value in each.items()}
        for each in records
    ]
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    path.write_bytes(sheet.getvalue().encode(encoding))
    return path


def one_thing_each(count):
    """Twelve authors write of one thing each, and nothing says of what: whatever keeps the meaning names the author."""
    rng = seeded_rng(6)
    pools = [TOPICS["card"], TOPICS["loan"], *(words.split() for words in (
        "river mountain valley forest meadow storm", "violin singer guitar music dancer concert",
        "bread butter cheese honey apple onion", "engine wheel brake tyre pedal gear",
        "doctor nurse fever pills cough clinic", "school pupil lesson teacher exam chalk",
        "football goal coach player stadium referee", "army soldier battle weapon general troops",
        "bishop church prayer altar priest cathedral",
        "computer software keyboard server program internet"))]  # fmt: skip
    return [
        {"author": f"a{number % 12}", "complaint": " ".join(rng.choice(pools[number % 12], 40).tolist())}
        for number in range(count)
    ]
