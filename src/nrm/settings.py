"""Settings: frozen dataclasses whose fields declare the values that they take."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import msgspec

from nrm.errors import ConfigError, NrmError, unknown

Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Checked:
    """A frozen dataclass that refuses what its fields do not declare: `count: Count = 5`, `gamma: Share = 0.9`."""

    section: ClassVar[str] = ""
    """What stands before the name of a field in errors: `tasks.`."""
    error: ClassVar[type[NrmError]] = ConfigError
    """What a bad value raises."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for item in fields(self):  # type: ignore[arg-type]
            self._check(item.name, getattr(self, item.name), hints[item.name])

    def _check(self, name: str, value: Any, hint: Any) -> None:
        try:
            msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            if get_origin(hint) is Literal:
                raise self.error(unknown(name, value, map(str, get_args(hint)))) from None
            reason = str(error).partition(" - at")[0].replace("Expected ", "").replace("`", "")
            raise self.error(f"{self.section}{name} is {reason}, not {value}") from None
