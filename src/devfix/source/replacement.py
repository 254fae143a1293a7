"""Replace nodes of a module by others, also those inside a node that is replaced."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import libcst as cst

Result = cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel


class Replacement(cst.CSTTransformer):
    """Replaces nodes by identity; `done` has those that it found.

    `extents` has the positions of each node and of what is below it. A replacement that was made from the old node, as
    by `with_changes`, still contains the nodes below it: those are replaced there. Nodes from elsewhere in the file,
    which it may contain as well, stay as they are, so that two nodes can change places.
    """

    def __init__(self, changes: Mapping[cst.CSTNode, cst.CSTNode], extents: Mapping[cst.CSTNode, slice]) -> None:
        super().__init__()
        self.done: set[cst.CSTNode] = set()
        self._changes, self._extents = changes, extents
        self._positions = sorted(extents[node].start for node in changes)
        self._around: list[cst.CSTNode] = []  # the old nodes whose replacement is being visited

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Return whether to visit what is below a node: not if nothing there is replaced, or the node itself is."""
        extent = self._extents.get(node)
        if extent is None:
            return True  # a new node, which may contain nodes of the file
        first = bisect_left(self._positions, extent.start)
        return first < len(self._positions) and self._positions[first] < extent.stop and not self._applies(node)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> Result:
        """Return what stands in place of a node."""
        if not self._applies(original_node):
            return updated_node
        self.done.add(original_node)
        self._around.append(original_node)
        found = self._visit(self._changes[original_node])
        self._around.pop()
        return found

    def _visit(self, new: object) -> Result:
        if isinstance(new, cst.CSTNode):
            return new.visit(self)
        if isinstance(new, cst.FlattenSentinel):
            return cst.FlattenSentinel([each for node in new if isinstance(each := node.visit(self), cst.CSTNode)])
        assert isinstance(new, cst.RemovalSentinel)
        return new

    def _applies(self, node: cst.CSTNode) -> bool:
        """Return whether a node is to be replaced here: in the module, or inside the node that is being replaced."""
        if node not in self._changes:
            return False
        if not self._around:
            return True
        inside, outside = self._extents[node], self._extents[self._around[-1]]
        return bool(outside.start < inside.start < outside.stop)
