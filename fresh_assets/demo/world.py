"""The world itself: named entities, and facts as timelines of values with known change dates."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise

from fresh_assets.demo.relations import RELATIONS, Relation

HISTORY_FROM = date(2018, 1, 1)
FAST_HISTORY_DAYS = 150
SLOW_CHANGE_IN_WINDOW = 0.25
"""Share of slow facts that change while the versions appear."""

_ONSETS = "b br d dr f fr g gr h k kl l m n p pr r s sk st t tr v w z".split()
_VOWELS = "a e i o u ae ia".split()
_CODAS = ("", "", "l", "m", "n", "r", "s", "t", "nd", "rk")
_TITLES = "Silver Winter Hidden Last Broken Quiet Golden Distant Burning Seventh".split()
_THINGS = "River Garden Mirror Lantern Harbour Orchard Tower Island Letter Crossing".split()
_FORMS = {
    "city": "{a}",
    "person": "{a} {b}",
    "book": "The {title} {thing} of {a}",
    "mountain": "Mount {a}",
    "company": "{a} Works",
    "club": "{a} Rovers",
    "award": "{a} Prize",
    "league": "{a} League",
    "ferry": "{a} ferry",
    "society": "{a} Society",
    "chart": "{a} Chart",
    "song": "{title} {thing} in {a}",
}


@dataclass(frozen=True)
class Fact:
    """A relation of a subject: its values and the day each became true, oldest first."""

    relation: Relation
    subject: str
    timeline: tuple[tuple[date, str], ...]

    def at(self, day: date) -> tuple[date, str]:
        """(since, value) on `day`."""
        return max((entry for entry in self.timeline if entry[0] <= day), default=self.timeline[0])


@dataclass
class World:
    """Entities by kind and facts by (relation name, subject)."""

    entities: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)

    def facts_of(self, pace: str) -> list[Fact]:
        """Facts whose relation has this pace."""
        return [fact for fact in self.facts.values() if fact.relation.pace == pace]


def make_world(size: int, days: Sequence[date], rng: random.Random) -> World:
    """Make a world with `size` subjects of every kind, whose facts run through `days`."""
    world = World()
    taken: set[str] = set()
    for kind in _FORMS:
        world.entities[kind] = [_name(kind, rng, taken) for _ in range(max(size, 4))]
    for relation in RELATIONS:
        for subject in world.entities[relation.subject]:
            timeline = _timeline(relation, world, days, rng)
            world.facts[relation.name, subject] = Fact(relation, subject, timeline)
    return world


def other_value(fact: Fact, world: World, rng: random.Random) -> str:
    """A value of the right kind that the fact never had."""
    had = {value for _, value in fact.timeline}
    while True:
        value = _value(fact.relation, world, rng, None)
        if value not in had:
            return value


def _name(kind: str, rng: random.Random, taken: set[str]) -> str:
    while True:
        name = _FORMS[kind].format(
            a=_word(rng), b=_word(rng), title=rng.choice(_TITLES), thing=rng.choice(_THINGS)
        )
        if name not in taken:
            taken.add(name)
            return name


def _word(rng: random.Random) -> str:
    syllables = (rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 2, 3))))
    return ("".join(syllables) + rng.choice(_CODAS)).capitalize()


def _timeline(
    relation: Relation, world: World, days: Sequence[date], rng: random.Random
) -> tuple[tuple[date, str], ...]:
    starts = _change_days(relation.pace, days, rng)
    values: list[str] = []
    for _ in starts:
        previous = values[-1] if values else None
        value = _value(relation, world, rng, previous)
        while value == previous:
            value = _value(relation, world, rng, previous)
        values.append(value)
    return tuple(zip(starts, values, strict=True))


def _change_days(pace: str, days: Sequence[date], rng: random.Random) -> list[date]:
    if pace == "never":
        return [HISTORY_FROM + timedelta(days=rng.randrange(1200))]
    if pace == "fast":
        start, low, high = days[0] - timedelta(days=FAST_HISTORY_DAYS), 5, 28
    else:
        start, low, high = HISTORY_FROM + timedelta(days=rng.randrange(900)), 250, 900
    changes = [start]
    while changes[-1] < days[-1]:
        changes.append(changes[-1] + timedelta(days=rng.randrange(low, high)))
    changes = [day for day in changes if day <= days[-1]]
    if pace == "slow":
        changes = [day for day in changes if day < days[0] - timedelta(days=30)]
        if rng.random() < SLOW_CHANGE_IN_WINDOW:
            changes.append(days[0] + timedelta(days=rng.randrange((days[-1] - days[0]).days)))
    return changes


def _value(relation: Relation, world: World, rng: random.Random, previous: str | None) -> str:
    match relation.value:
        case "year":
            return str(rng.randrange(1210, 1890))
        case "metres":
            return f"{rng.randrange(1200, 6900):,}"
        case "crowns":
            return str(rng.randrange(6, 60))
        case "count":
            before = int(previous.replace(",", "")) if previous else rng.randrange(2000, 40000)
            return f"{before + rng.randrange(3, 400):,}"
        case kind:
            return rng.choice(world.entities[kind])


def changes(fact: Fact) -> list[tuple[date, str, str]]:
    """(day, value before, value after) of every change of a fact."""
    return [(day, old, new) for (_, old), (day, new) in pairwise(fact.timeline)]
