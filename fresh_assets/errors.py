"""What went wrong for a person to mend: one line, no traceback. Bugs raise other exceptions."""


class UserError(Exception):
    """A mistake or a missing input that the person at the keyboard can mend."""


class BadInputError(UserError):
    """A file that cannot be taken as it is: names the file, the place, and what to do."""

    def __init__(self, file: str, problem: str, fix: str, place: str = "") -> None:
        where = f"{file}, {place}" if place else file
        super().__init__(f"{where}: {problem}. {fix}")
