"""Text from models, searches and files as a terminal may show it."""

from rich.markup import escape


def plain(text: str) -> str:
    """Text from outside as markup that shows it as it is, without control characters."""
    return escape(printable(text))


def printable(text: str) -> str:
    """Text whose control characters are replaced."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
