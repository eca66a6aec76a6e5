"""A device that is not there: tensors that are said to be elsewhere stay here, but may not meet those that are not.

Each storage remembers on which of the two devices it is. Whatever mixes them raises, as it would on a GPU, and so does
whatever reads numbers without fetching them. So it can be tested that nothing is forgotten, without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode

ELSEWHERE = torch.device("mtia")
"""A kind of device that PyTorch knows, that fused Adam takes, and that nobody here has."""
HERE = torch.device("cpu")
_FREE = {"_has_compatible_shallow_copy_type", "copy_", "__set__", "__repr__", "backward", "_backward"}
"""What may take tensors of two devices."""
_READS = {"numpy", "__array__"}
_GETS_DEVICE = torch.Tensor.device.__get__


class DeviceError(RuntimeError):
    """Tensors of two devices have met."""


class Elsewhere(TorchFunctionMode):
    """In this mode there is the device `ELSEWHERE`."""

    def __init__(self) -> None:
        super().__init__()
        # Weak references keep the address of a storage from being used again.
        self._places: dict[int, tuple[StorageWeakRef, torch.device]] = {}

    def place(self, tensor: Tensor) -> torch.device | None:
        """Where a tensor is; None where nobody knows: gradients come about out of sight."""
        found = self._places.get(tensor.untyped_storage()._cdata)
        return None if found is None else found[1]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Check, run, and note where the results are."""
        name, named = getattr(func, "__name__", str(func)), dict(kwargs or {})
        given = [*_tensors(args), *_tensors(named)]
        if func == _GETS_DEVICE:
            return self.place(args[0]) or HERE
        if name in ("to", "cpu", "type_as"):
            return self._moved(func, args, named)
        wanted = named.pop("device", None)
        if wanted is not None:
            named["device"] = HERE
        like = [self.place(one) for one in given]
        places = {place for one, place in zip(given, like, strict=True) if one.dim() and place}
        if len(places) > 1 and name not in _FREE:
            shapes = [(tuple(one.shape), str(self.place(one))) for one in given]
            raise DeviceError(f"{name}: tensors of two devices: {shapes}")
        if name in _READS and ELSEWHERE in places:
            raise DeviceError(f"{name}: the tensor must be fetched first")
        result = func(*args, **named)
        self._note(result, torch.device(wanted) if wanted else next((place for place in like if place), HERE))
        return result

    def _moved(self, func: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        tensor, place = args[0], self.place(args[0]) or HERE
        target, kind = (HERE if func.__name__ == "cpu" else place), named.get("dtype") or tensor.dtype
        for one in (*args[1:], named.get("device")):
            if isinstance(one, torch.device | str):
                target = torch.device(one)
            elif isinstance(one, Tensor):
                target, kind = self.place(one) or HERE, one.dtype
            elif isinstance(one, torch.dtype):
                kind = one
        result = tensor.to(kind)
        if target != place and result is tensor:
            result = tensor.clone()
        self._note(result, target)
        return result

    def _note(self, result: Any, place: torch.device) -> None:
        for one in _tensors(result):
            storage = one.untyped_storage()
            if storage._cdata not in self._places:
                self._places[storage._cdata] = StorageWeakRef(storage), place  # type: ignore[no-untyped-call]


def _tensors(values: Any) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, tuple | list):
        for value in values:
            yield from _tensors(value)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
