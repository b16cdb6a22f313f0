"""What a question is about, by its words: a coarse topic whose answers change alike."""

import polars as pl

OTHER = "other"
TOPICS = {
    "sport": "league|cup|champion|match|season|player|coach|team|goals?|medal|olympi|tournament|"
    "nba|nfl|fifa|ufc|grand slam|tennis|football|soccer|cricket|club|race|scor|rovers",
    "culture": "film|movie|song|album|book|novel|series|episode|show|actor|actress|singer|artist|"
    "oscar|grammy|award|prize|chart|box office|netflix|youtube|game",
    "money": "price|cost|stock|market|company|ceo|rich|billion|revenue|salary|worth|tickets?|"
    "crowns|inflation|bank|gdp|sell|sold|tesla|apple|google|amazon",
    "politics": "president|minister|mayor|election|government|senate|congress|parliament|king|"
    "queen|monarch|law|war|court|vote|party|country|nato|united nations|governor",
    "science": "planet|species|vaccine|virus|covid|nasa|space|moon|mars|model|software|version|"
    "iphone|language model|prime number|theorem|physics|chemistry|animal",
    "people": "born|age|old|married|wife|husband|children|dating|spouse|alive|die[ds]?|people|"
    "population|members?|followers",
}
"""Topic to a pattern of words; the first whose pattern is found is it."""


def topic_of(question: pl.Expr) -> pl.Expr:
    """Topic of a question text."""
    said = question.str.to_lowercase()
    found = pl.lit(OTHER)
    for topic, words in reversed(TOPICS.items()):
        found = pl.when(said.str.contains(rf"\b(?:{words})")).then(pl.lit(topic)).otherwise(found)
    return found
