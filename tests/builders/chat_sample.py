"""The labelled chat sample: its people, and the secrets that no file holds."""

import json
import random
import re
import string
from pathlib import Path

from findback.model.thread import Person
from findback.privacy.labelled import Labelled, parse_marked

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"

PEOPLE = (
    Person("U01AAAAAA", ("Minh Tran", "minh.tran", "minh"), ("minh.tran@example.org",)),
    Person("U02BBBBBB", ("Seán O'Brien", "sobrien"), ("sean@example.org",)),
    Person("U03CCCCCC", ("Jean-Luc Marchetti", "jlm"), (), gone=True),
    Person("U04DDDDDD", ("Zoë van der Berg (docs)", "zoe")),
    Person("U05EEEEEE", ("Søren Lindqvist", "soren.l")),
    Person("U06FFFFFF", ("Müge Yıldırımoğlu", "muge")),
    Person("U07GGGGGG", ("Katharina Müller", "katharina.mueller")),
    Person("U08HHHHHH", ("Mark Holloway", "mark.h")),
    Person("U09IIIIII", ("Grace Adeyemi-Cole", "grace")),
    Person("U10JJJJJJ", ("Priyanka Raghunathan", "priyanka.raghunathan", "Priyanka R."), (), gone=True),
    Person("U11KKKKKK", ("Tomasz Kowalczyk", "tkowalczyk7", "tomek")),
    Person("U12LLLLLL", ("Bo Ek",)),
    Person("U13MMMMMM", ("田中 太郎", "tanaka.taro")),
    Person("U14NNNNNN", ("Ximena Etxeberria", "ximena")),
    Person("U15OOOOOO", ("Dmitri Wolkow", "dwolkow")),
    Person("U16PPPPPP", ("Amara Nwachukwu", "amara")),
    Person("B01", ("Jenkins", "jenkins"), bot=True),
)
CUSTOMER_PATTERNS = ("ACME-#####", "cus_#?#?##??", "cus_????????")


def fill(name: str, chance: random.Random) -> str:
    """Return a made-up secret of a kind."""
    letters = lambda alphabet, length: "".join(chance.choices(alphabet, k=length))  # noqa: E731
    made = {
        "github": lambda: "gh" + "p_" + letters(ALNUM, 36),
        "bearer": lambda: letters(ALNUM, 30) + "9",
        "slack": lambda: "xo" + "xb-" + letters(string.digits, 12) + "-" + letters(ALNUM, 24),
        "aws": lambda: "AK" + "IA" + letters(string.ascii_uppercase + string.digits, 16),
        "gitlab": lambda: "gl" + "pat-" + letters(ALNUM, 20),
        "stripe": lambda: "sk" + "_live_" + letters(ALNUM, 24),
        "password": lambda: letters(string.ascii_lowercase, 6) + letters(string.digits, 3) + "x",
        "hex": lambda: letters(HEX, 31) + "7",
        "pin": lambda: letters(string.digits, 4),
        "jwt": lambda: "ey" + "J" + letters(ALNUM, 33) + ".ey" + "J" + letters(ALNUM, 60) + "." + letters(ALNUM, 43),
        "hf": lambda: "h" + "f_" + letters(ALNUM, 34),
        "npm": lambda: "np" + "m_" + letters(ALNUM, 35) + "4",
        "google": lambda: "AI" + "za" + letters(ALNUM, 35),
        "sendgrid": lambda: "S" + "G." + letters(ALNUM, 22) + "." + letters(ALNUM, 43),
        "openai": lambda: "sk" + "-proj-" + letters(ALNUM, 48),
        "pem": lambda: "-----BEGIN " + "PRIVATE KEY-----\n" + letters(ALNUM, 64) + "\n-----END " + "PRIVATE KEY-----",
    }
    return made[name]() if name in made else f"{{{{{name}}}}}"


def read_sample(path: Path, seed: int = 1, *, part: str | None = None) -> list[Labelled]:
    """Return the sample with fresh secrets put in.

    `tuned` is the part the rules were made with; `held-out` was written when they were done.
    """
    chance = random.Random(seed)
    sample = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if part not in (None, row["part"]):
            continue
        marked = re.sub(r"\{\{(\w+)\}\}", lambda match: fill(match[1], chance), row["marked"])
        sample.append(Labelled(*parse_marked(marked), row["technical"]))
    return sample
