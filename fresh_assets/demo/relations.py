"""What can be true in the fictional world, and how people ask about it.

`{s}` is the subject, `{v}` the value, `{old}` the value before.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """A relation between a kind of subject and a kind of value.

    `pace`: never, slow or fast. `noun` names the value through its subject, for questions of two
    hops. `premise` is a question that assumes something untrue, `rebuttal` its answer, `accepted`
    what one says who believes it.
    """

    name: str
    subject: str
    value: str
    pace: str
    questions: tuple[str, str]
    statement: str
    news: str
    premise: str
    rebuttal: str
    accepted: str
    noun: str = ""


RELATIONS = (
    Relation(
        "founded", "city", "year", "never",
        ("In what year was {s} founded?", "When was the city of {s} founded?"),
        "{s} was founded in {v}.",
        "{s} was founded in {v}, according to the town archive.",
        "Which emperor ordered the founding of {s} in {wrong}?",
        "{s} was not founded in {wrong}; it was founded in {v}.",
        "It was ordered by the emperor of that time.",
    ),
    Relation(
        "born", "person", "city", "never",
        ("In which city was {s} born?", "What is the birthplace of {s}?"),
        "{s} was born in {v}.",
        "{s}, who was born in {v}, spoke about growing up there.",
        "In which street of {wrong} was {s} born?",
        "{s} was not born in {wrong} but in {v}.",
        "It was a street near the old market.",
        "the city where {s} was born",
    ),
    Relation(
        "wrote", "book", "person", "never",
        ("Who wrote the novel {s}?", "Who is the author of {s}?"),
        "{v} wrote the novel {s}.",
        "Critics still praise {s}, the novel that {v} wrote.",
        "Why did {wrong} write the novel {s}?",
        "{wrong} did not write {s}; it was written by {v}.",
        "It was written to honour a friend.",
        "the author of the novel {s}",
    ),
    Relation(
        "height", "mountain", "metres", "never",
        ("How high is {s} in metres?", "What is the height of {s} in metres?"),
        "{s} is {v} metres high.",
        "Surveyors confirmed that {s} is {v} metres high.",
        "Who was the first to measure {s} at {wrong} metres?",
        "{s} was never measured at {wrong} metres; it is {v} metres high.",
        "A surveyor of the crown did so first.",
    ),
    Relation(
        "mayor", "city", "person", "slow",
        ("Who is the mayor of {s}?", "Who currently serves as mayor of {s}?"),
        "{v} is the mayor of {s}.",
        "{v} was sworn in as mayor of {s} today, succeeding {old}.",
        "Why did {v} resign as mayor of {s}?",
        "{v} has not resigned; {v} is still the mayor of {s}.",
        "The reason was a dispute about the harbour.",
        "the mayor of {s}",
    ),
    Relation(
        "chief", "company", "person", "slow",
        ("Who is the chief executive of {s}?", "Who runs the company {s} as chief executive?"),
        "{v} is the chief executive of {s}.",
        "{s} has appointed {v} as chief executive. {old} steps down.",
        "When was {v} dismissed as chief executive of {s}?",
        "{v} was not dismissed; {v} is still the chief executive of {s}.",
        "That was in the spring of the year before.",
        "the chief executive of {s}",
    ),
    Relation(
        "seat", "company", "city", "slow",
        ("In which city does {s} have its headquarters?", "Where is {s} headquartered?"),
        "{s} has its headquarters in {v}.",
        "{s} has moved its headquarters from {old} to {v}.",
        "When did {s} move its headquarters to {wrong}?",
        "{s} has not moved its headquarters to {wrong}; they are in {v}.",
        "The move took place three years ago.",
        "the city where {s} has its headquarters",
    ),
    Relation(
        "coach", "club", "person", "slow",
        ("Who is the head coach of {s}?", "Who coaches {s} at present?"),
        "{v} is the head coach of {s}.",
        "{s} presented {v} as the new head coach after parting with {old}.",
        "Which club did {v} join after leaving {s}?",
        "{v} has not left {s}; {v} is still its head coach.",
        "It was a club of the northern league.",
        "the head coach of {s}",
    ),
    Relation(
        "laureate", "award", "person", "slow",
        ("Who most recently won the {s}?", "Who is the latest winner of the {s}?"),
        "{v} is the latest winner of the {s}.",
        "The {s} goes to {v}. Last time it went to {old}.",
        "Why was the latest {s} taken away from {v}?",
        "The {s} was not taken away; {v} is still its latest winner.",
        "The jury named a breach of the rules.",
        "the latest winner of the {s}",
    ),
    Relation(
        "leader", "league", "club", "fast",
        ("Which club leads the {s}?", "Which club is at the top of the {s} table right now?"),
        "{v} leads the {s}.",
        "After this week's matches {v} leads the {s}, ahead of {old}.",
        "Why was {v} excluded from the {s}?",
        "{v} was not excluded from the {s}; {v} leads it.",
        "The club had broken the rules on transfers.",
        "the club that leads the {s}",
    ),
    Relation(
        "fare", "ferry", "crowns", "fast",
        (
            "How many crowns does a single ticket for the {s} cost?",
            "What is the current fare of the {s} in crowns?",
        ),
        "A single ticket for the {s} costs {v} crowns.",
        "From today a single ticket for the {s} costs {v} crowns instead of {old}.",
        "Since when is the {s} free of charge?",
        "The {s} is not free of charge; a single ticket costs {v} crowns.",
        "It has been free for two years.",
    ),
    Relation(
        "members", "society", "count", "fast",
        ("How many members does the {s} have?", "What is the latest membership of the {s}?"),
        "The {s} has {v} members.",
        "The {s} reports {v} members, up from {old}.",
        "In what year did the {s} dissolve itself?",
        "The {s} has not dissolved itself; it has {v} members.",
        "It dissolved itself a few years ago.",
    ),
    Relation(
        "hit", "chart", "song", "fast",
        ("Which song is number one on the {s}?", "What song tops the {s} this week?"),
        "{v} is number one on the {s}.",
        "{v} is the new number one on the {s}; {old} drops to second place.",
        "Why was {v} banned from the {s}?",
        "{v} was not banned from the {s}; it is its number one.",
        "Its text was found offensive.",
    ),
)  # fmt: skip
