"""What was opened lately is kept, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key, the oldest let go first; `size` says what each weighs.

    A value heavier than all that may be kept is given and not kept. Two threads may make the same
    value at once: nothing waits for the other.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.weight = 0
        self.held: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], tuple[Value, int]]) -> Value:
        """The value of a key, made when it is not here; `make` gives it with its weight."""
        with self.lock:
            if key in self.held:
                self.held.move_to_end(key)
                return self.held[key][0]
        value, size = make()
        with self.lock:
            if key not in self.held and size <= self.most_bytes:
                self.held[key] = (value, size)
                self.weight += size
                while self.weight > self.most_bytes:
                    self.weight -= self.held.popitem(last=False)[1][1]
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.held.clear()
            self.weight = 0
