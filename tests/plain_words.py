"""Words that the project does without: `test_tidy` looks for them in sources, `test_docs_tidy` in pages."""

from __future__ import annotations

import re

UNWANTED = re.compile(
    r"\b(the same|such(?! as)|whoever|somebody|nobody|anybody|everybody|likewise|so many|told|he|his|him"
    r"|(?:of|in) the digest|tradesmen|refuge|shelf|bury|stirred|belongings|bringer|scenery|graves"
    r"|dear|bites?|vouch(?:es)?|fates?|learns|speaks?|spoken"
    r"|in silence|in vain|no harm|as ever|in peace|that is none|let go of|at hand|be it so|beliefs?|believ\w+"
    r"|vanish\w*|swallow\w*|hands? in hand|"
    r"tells? of|wounds?|at home|all is well|of the house|comes home"
    r"|without a word|(?:queues|clients|servers|senders|sources) elsewhere|body lies|must tell)\b",
    re.IGNORECASE,
)
"""A pronoun hides its noun, a metaphor its meaning."""
QUOTED = re.compile(r"\bno such (?:file|device|command|option|table)\b", re.IGNORECASE)
"""What an operating system, a library or a database says and our texts quote."""


def unwanted(text: str) -> list[str]:
    """Return the unwanted words of a text, except those of a quotation."""
    return [match[0] for match in UNWANTED.finditer(QUOTED.sub("", text))]
