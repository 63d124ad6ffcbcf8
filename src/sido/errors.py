"""What sido raises when the world is not as it must be: one line that says where, what was found, and what to do."""

from __future__ import annotations

__all__ = ["DataError", "MissingExtraError", "SettingError", "SidoError"]


class SidoError(Exception):
    """The parent of every error that sido raises on purpose.

    The text is one line: `file > demo > field: problem; found ...; expected ...; to mend it: ...`.
    Layers that know more (a reader knows its file, a demo does not) add it on the way up with `at`.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: object = None,
        demo: str | None = None,
        field: str | None = None,
        found: object = None,
        expected: object = None,
        fix: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = None if file is None else str(file)
        self.demo = demo
        self.field = field
        self.found = None if found is None else str(found)
        self.expected = None if expected is None else str(expected)
        self.fix = fix

    def at(self, *, file: object = None, demo: str | None = None, field: str | None = None) -> SidoError:
        """Fill in the places that are still unknown, and return this same error, to be raised again."""
        self.file = self.file if file is None or self.file is not None else str(file)
        self.demo = self.demo or demo
        self.field = self.field or field
        return self

    def __str__(self) -> str:
        place = " > ".join(part for part in (self.file, self.demo, self.field) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.fix is not None:
            text += f"; to mend it: {self.fix}"
        return " ".join(text.split())


class DataError(SidoError):
    """A dataset, a demonstration or an array is not what its format or its use demands."""


class SettingError(SidoError, ValueError):
    """A setting that a person chose cannot be honoured."""


class MissingExtraError(SidoError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed",
            fix=f"pip install 'sido[{extra}]'",
        )
