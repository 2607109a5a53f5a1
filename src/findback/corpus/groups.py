"""Groups that grow together."""


class Groups:
    """Joins names into groups; the name seen first stands for its group."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._order: dict[str, int] = {}

    def find(self, name: str) -> str:
        """Return the name that stands for a name's group."""
        top = name
        while (above := self._parent.get(top, top)) != top:
            top = above
        while (above := self._parent.get(name, name)) != top:
            self._parent[name], name = top, above
        return top

    def join(self, one: str, other: str) -> bool:
        """Make two names one group; return whether they were two before."""
        for name in (one, other):
            self._order.setdefault(name, len(self._order))
        first, second = self.find(one), self.find(other)
        if first == second:
            return False
        if self._order[second] < self._order[first]:
            first, second = second, first
        self._parent[second] = first
        return True

    def mapping(self) -> dict[str, str]:
        """Return every joined name and the one that stands for its group, in the order they were seen."""
        return {name: self.find(name) for name in self._order}
