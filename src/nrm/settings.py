"""Settings: frozen dataclasses whose fields declare the values that they take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import msgspec

from nrm.errors import ConfigError, NrmError, unknown
from nrm.registry import check_followed

Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Noise = Annotated[float, msgspec.Meta(ge=0, lt=0.5)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
CODE = re.compile(r"(?!gym:|minigrid:|info:|file:)[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
"""Texts that name code outside of this package."""
USUAL: Any = None
"""The default of a field that is declared once for several classes, each of which has its own in `usual`."""


class Checked:
    """A frozen dataclass that refuses what its fields do not declare: `count: Count = 5`, `gamma: Share = 0.9`."""

    section: ClassVar[str] = ""
    """What stands before the name of a field in errors: `tasks.`."""
    error: ClassVar[type[NrmError]] = ConfigError
    """What a bad value raises."""
    usual: ClassVar[Mapping[str, Any]] = {}
    """The defaults of inherited fields that are `USUAL` where they are declared."""

    def __post_init__(self) -> None:
        for name, value in self.usual.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        hints = get_type_hints(type(self), include_extras=True)
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            self._check(item.name, value, hints[item.name])
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and CODE.fullmatch(text):  # refused here, not where it is followed later
                    check_followed(text)

    def _check(self, name: str, value: Any, hint: Any) -> None:
        try:
            msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            if get_origin(hint) is Literal:
                raise self.error(unknown(name, value, map(str, get_args(hint)))) from None
            reason = str(error).partition(" - at")[0].replace("Expected ", "").replace("`", "")
            raise self.error(f"{self.section}{name} is {reason}, not {value}") from None


@dataclass(frozen=True, kw_only=True)
class SeedSetting(Checked):
    """Whatever has chance in it."""

    seed: int = USUAL
    """Random seed, of training or of test episodes."""


@dataclass(frozen=True, kw_only=True)
class StatesSetting(Checked):
    """Whatever makes machines."""

    max_states: Count = USUAL
    """Maximum number of machine states."""


@dataclass(frozen=True, kw_only=True)
class NoiseSettings(StatesSetting):
    """Whatever learns a machine from rewards."""

    reward_noise: Noise = 0.0
    """Probability of a wrong reward, if a machine is learned."""
    label_noise: Noise = 0.0
    """Probability of a wrong symbol (or observation, if symbols are learned too), if a machine is learned."""


@dataclass(frozen=True, kw_only=True)
class EverySetting(Checked):
    """Whatever learns from episodes while somebody acts."""

    every: Count = 120
    """Episodes between two updates."""


@dataclass(frozen=True, kw_only=True)
class GrounderSetting(Checked):
    """Whatever learns symbols."""

    grounder: str = "auto"
    """Grounder: auto (cnn for images, detector where there is one, otherwise mlp), mlp, cnn, pooled, recurrent,
    detector, paper, or module:name."""
