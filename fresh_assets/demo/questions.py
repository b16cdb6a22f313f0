"""Questions about the world, with the truth of any day: one hop, two hops, false premises."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from fresh_assets.demo.relations import RELATIONS, Relation
from fresh_assets.demo.world import Fact, World, other_value

PACES = {"never": "never-changing", "slow": "slow-changing", "fast": "fast-changing"}
_ORDER = list(PACES)
FALSE_PREMISES = 0.25
TWO_HOPS = 0.27


@dataclass(frozen=True)
class Truth:
    """What is true on a day: acceptable answers, since when, and as a sentence."""

    answers: tuple[str, ...]
    since: date
    sentence: str


@dataclass(frozen=True)
class Question:
    """A question about the last of `chain`; the first of two facts names its subject."""

    wordings: tuple[str, ...]
    chain: tuple[Fact, ...]
    is_test: bool
    wrong: str | None = None
    accepted: str = ""

    @property
    def is_false(self) -> bool:
        """Whether its premise is untrue."""
        return bool(self.accepted)

    @property
    def pace(self) -> str:
        """Pace of the faster fact."""
        return max((fact.relation.pace for fact in self.chain), key=_ORDER.index)

    def truth(self, world: World, day: date) -> Truth:
        """The truth on `day`."""
        fact = self.chain[-1]
        since = date.min
        if len(self.chain) == 2:
            since, subject = self.chain[0].at(day)
            fact = world.facts[fact.relation.name, subject]
        began, value = fact.at(day)
        slots = {"s": fact.subject, "v": value, "wrong": self.wrong}
        if self.is_false:
            rebuttal = fact.relation.rebuttal.format(**slots)
            return Truth((rebuttal,), began, rebuttal)
        sentence = fact.relation.statement.format(**slots)
        return Truth(_aliases(fact.relation, value), max(since, began), sentence)


def make_questions(
    world: World, number: int, rng: random.Random, days: Sequence[date]
) -> list[Question]:
    """Make `number` different questions; one in six belongs to DEV."""
    pools = {
        (kind, pace): list(make(world, pace, rng, days))
        for kind, make in {"one": _one_hop, "two": _two_hops, "false": _false_premises}.items()
        for pace in PACES
    }
    for pool in pools.values():
        rng.shuffle(pool)
    questions: list[Question] = []
    while len(questions) < number:
        kind = _kind(rng)
        pool = pools[kind, _ORDER[len(questions) % 3]]
        if not pool:
            raise ValueError("the world is too small for so many questions")
        wordings, chain, wrong, accepted = pool.pop()
        questions.append(Question(wordings, chain, len(questions) % 6 != 0, wrong, accepted))
    return questions


_Draft = tuple[tuple[str, ...], tuple[Fact, ...], str | None, str]


def _kind(rng: random.Random) -> str:
    draw = rng.random()
    if draw < FALSE_PREMISES:
        return "false"
    return "two" if draw < FALSE_PREMISES + (1 - FALSE_PREMISES) * TWO_HOPS else "one"


def _one_hop(
    world: World, pace: str, _rng: random.Random, _days: Sequence[date]
) -> Iterator[_Draft]:
    for fact in world.facts_of(pace):
        wordings = tuple(wording.format(s=fact.subject) for wording in fact.relation.questions)
        yield wordings, (fact,), None, ""


def _two_hops(
    world: World, pace: str, _rng: random.Random, _days: Sequence[date]
) -> Iterator[_Draft]:
    for first in world.facts.values():
        for relation in _continuations(first.relation):
            subject = first.timeline[-1][1]
            chain = (first, world.facts[relation.name, subject])
            if max((fact.relation.pace for fact in chain), key=_ORDER.index) == pace:
                noun = first.relation.noun.format(s=first.subject)
                yield (
                    tuple(wording.format(s=noun) for wording in relation.questions),
                    chain,
                    None,
                    "",
                )


def _continuations(first: Relation) -> list[Relation]:
    return [r for r in RELATIONS if first.noun and r.subject == first.value]


def _false_premises(
    world: World, pace: str, rng: random.Random, days: Sequence[date]
) -> Iterator[_Draft]:
    for fact in world.facts_of(pace):
        steady = fact.at(days[0]) == fact.at(days[-1])
        if not steady and "{v}" in fact.relation.premise:
            continue
        wrong = other_value(fact, world, rng)
        slots = {"s": fact.subject, "v": fact.at(days[0])[1], "wrong": wrong}
        question = fact.relation.premise.format(**slots)
        yield (question,), (fact,), wrong, fact.relation.accepted


def _aliases(relation: Relation, value: str) -> tuple[str, ...]:
    bare = value.replace(",", "")
    unit = {"metres": "metres", "crowns": "crowns", "count": "members"}.get(relation.value)
    spelled = (value, bare, f"{value} {unit}") if unit else (value,)
    return tuple(dict.fromkeys(spelled))
