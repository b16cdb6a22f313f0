"""What calls cost. An unknown price is None, never 0."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import pydantic

from fresh_assets.errors import UserError
from fresh_assets.llm.request import Request, Usage

CHARS_PER_TOKEN = 3.5
"""English text has about four characters a token; estimates err on the high side."""


class Price(pydantic.BaseModel):
    """US dollars a million tokens, as of `date`, from `source`."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    input: float
    cached_input: float
    output: float
    date: date
    source: str


Prices = Mapping[str, Price]


def read_prices(text: str) -> Prices:
    """Parse the text of prices.toml; UserError names the model that is wrong."""
    try:
        return {name: Price.model_validate(row) for name, row in tomllib.loads(text).items()}
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"prices.toml: {error}") from error
    except pydantic.ValidationError as error:
        raise UserError(
            f"prices.toml: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}"
        ) from error


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Dollars for the tokens of a call; None if the price is unknown."""
    if price is None:
        return None
    fresh = usage.input - usage.cached
    dollars = fresh * price.input + usage.cached * price.cached_input + usage.output * price.output
    return dollars / 1e6


def estimated_usage(request: Request) -> Usage:
    """Upper estimate before the call: the whole output budget is used."""
    characters = sum(len(content) for _, content in request.messages)
    return Usage(
        input=int(characters / CHARS_PER_TOKEN) + 8, output=request.parameters.max_tokens or 1024
    )


@dataclass
class Budget:
    """A hard limit in dollars that counts calls in flight at their upper estimate."""

    limit: float | None = None
    spent: float = 0.0
    reserved: float = 0.0

    def reserve(self, estimate: float | None) -> bool:
        """Set aside the estimate of a call; False if it does not fit any more."""
        if self.limit is None:
            return True
        amount = estimate or 0.0
        if self.spent + self.reserved + amount > self.limit:
            return False
        self.reserved += amount
        return True

    def settle(self, estimate: float | None, cost: float | None) -> None:
        """Replace the estimate of a finished call by its cost."""
        if self.limit is not None:
            self.reserved -= estimate or 0.0
        self.spent += cost or 0.0
