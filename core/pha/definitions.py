"""The procedures of a programme of version 2 with all names looked up, before evaluation.

The names that a module's procedures can use are its *view*. A name may mean something else in the view of a module that
inherits a procedure. So each procedure is looked up in all views in which it may run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from ..errors import Place, quoted
from ..skeletons.body_parts import NamedBody, what_is_wrong, where_circles_close
from .call_order import innermost_first
from .document import MAX_PROBLEMS, Call, Item, Music, Procedure, Tempo
from .expressions import Expression, Role, read_expression
from .garbage import without_search_for_cycles
from .grammar import GRAMMAR
from .naming import Suggestions
from .nodes import Attributes, Node
from .scopes import Module, Scopes

Report = Callable[[str, Place, str], None]
"""Called with a mistake, its place, and the name of the only part that cannot be played; "" for the whole score."""
MAX_NAMES: Final = 1_000
"""Greatest number of values that are known at one place."""
InView = tuple[int, int]
"""A view, by the number of its module, and a procedure."""
Target = InView | int
"""The target of a call: a procedure in a view, or a clip."""


class At(NamedTuple):
    """An element of a file; its place is looked up only for messages."""

    place_of: Callable[[Item], Place]
    item: Item

    @property
    def place(self) -> Place:
        """Its line and column."""
        return self.place_of(self.item)


@dataclass(frozen=True, eq=False)
class Let:
    """A value that a file defines for all its procedures; at: its element."""

    name: str
    value: Expression
    at: At


@dataclass(frozen=True, eq=False)
class ModuleView:
    """The names that a module's procedures can use: lets, inherited ones first; masks and roles; tempo and music."""

    lets: tuple[Let, ...]
    masks: dict[str, NamedBody]
    roles: dict[str, Role]
    tempo: tuple[Tempo, ...]
    music: Music | None


@dataclass(frozen=True, eq=False)
class Definitions:
    """All P procedures of a programme, by number.

    blocks: (P,) contents of each without parameters; params: (P,). module_of: (P,) the module that defines
    each. sources: (M,) the src of each module; bases: (M,) the module that each extends.
    picks: the number of each pick in its module.
    targets: by view, the target of each call in it. order: procedures in views, each after those that it calls.
    gap: the clip that is the target of unknown names.
    """

    procedures: tuple[Procedure, ...]
    blocks: tuple[tuple[Node, ...], ...]
    params: tuple[tuple[Node, ...], ...]
    module_of: tuple[int, ...]
    sources: tuple[str, ...]
    bases: tuple[int | None, ...]
    places: tuple[Callable[[Item], Place], ...]
    views: tuple[ModuleView, ...]
    picks: dict[Node, int]
    targets: tuple[dict[Node, Target], ...]
    order: tuple[InView, ...]
    gap: int

    @classmethod
    @without_search_for_cycles
    def of(cls, modules: Sequence[Module], scopes: Scopes, gap: int, report: Report,
           report_cycle: Callable[[list[int]], None]) -> Definitions:
        """Look up every name and report mistakes, and cycles of calls by the numbers of their procedures.

        gap: the clip number that replaces the target of unknown names.
        """
        procedures = [(module, procedure) for module in modules for procedure in module.document.procedures]
        blocks = tuple(_block_of(procedure) for _, procedure in procedures)
        places = tuple(module.document.place for module in modules)
        views = tuple(_view(list(scopes.chain(module.index))) for module in modules)
        module_of = tuple(module.index for module, _ in procedures)
        lookup = _Lookup(scopes, gap, views, tuple(p for _, p in procedures), blocks, module_of, places, report)
        targets, called = lookup.targets()
        order = innermost_first([(module.index, procedure) for module in modules
                                 for procedure in scopes.own(module.index).values()], lambda at: called.get(at, ()),
                                lambda cycle: report_cycle([procedure for _, procedure in cycle]))
        picks = {node: number for module in modules for number, node in enumerate(_picks(module))}
        return cls(tuple(p for _, p in procedures), blocks, tuple(p.params for _, p in procedures), module_of,
                   tuple(m.src if m.index else "" for m in modules), tuple(m.base for m in modules),
                   places, views, picks, targets, order, gap)

    def place(self, procedure: int, node: Node) -> Place:
        """Return the place of a node of a procedure."""
        return self.places[self.module_of[procedure]](node)


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield nodes and all their descendants, in the order of the text."""
    for node in nodes:
        yield node
        if node.children:  # no deeper than elements may be nested
            yield from walk(node.children)


def _picks(module: Module) -> Iterator[Node]:
    document = module.document
    for procedure in document.procedures if "pick" in document.text.shape.tags else ():
        yield from (node for node in walk(procedure.block) if node.tag == "pick")


def _block_of(procedure: Procedure) -> tuple[Node, ...]:
    """Return the contents of a procedure; calls of version 1 as nodes."""
    if procedure.calls:
        return tuple(map(_node_of, procedure.calls))
    return procedure.block[len(procedure.params):]


def _node_of(call: Call) -> Node:
    numbers = {"duration": call.duration, "repeat": float(call.repeat), "transition": call.transition}
    read = Attributes.of("call", {"name": call.name}, {
        name: read_expression(repr(number)) for name, number in numbers.items() if number is not None})
    return Node.of("call", read, (), call.element)


def _view(chain: list[Module]) -> ModuleView:
    """Return the view of a module: its own definitions, and those that it inherits and does not replace."""
    lets: dict[str, Let] = {}
    masks: dict[str, NamedBody] = {}
    roles: dict[str, Role] = {}
    tempo: tuple[Tempo, ...] = ()
    music = None
    for module in reversed(chain):
        document = module.document
        for node in document.lets:
            lets[node.texts["name"]] = Let(node.texts["name"], node.expressions["value"], At(document.place, node))
        masks |= {mask.name: NamedBody(mask.body, mask.fade) for mask in document.masks}
        roles |= {role.name: Role(role.name, role.kind) for role in document.roles}
        tempo, music = document.tempo or tempo, document.music or music
    return ModuleView(tuple(lets.values()), masks, roles, tempo, music)


@dataclass(eq=False)
class _Lookup:
    """Looks up every call in every view, and checks the names of values."""

    scopes: Scopes
    gap: int
    views: tuple[ModuleView, ...]
    procedures: tuple[Procedure, ...]
    blocks: tuple[tuple[Node, ...], ...]
    module_of: tuple[int, ...]
    places: tuple[Callable[[Item], Place], ...]
    report: Report
    _said: set[tuple[str, Place]] = field(default_factory=set)
    _suggestions: Suggestions = field(default_factory=Suggestions)
    _circular: dict[int, frozenset[str]] = field(default_factory=dict)
    _bodies: dict[tuple[int, str], str] = field(default_factory=dict)
    _kinds: dict[str, str] = field(default_factory=dict)
    _targets: list[dict[Node, Target]] = field(default_factory=list)
    _clips: list[dict[str, int]] = field(default_factory=list)
    _calls: dict[InView, list[InView]] = field(default_factory=dict)

    def targets(self) -> tuple[tuple[dict[Node, Target], ...], dict[InView, list[InView]]]:
        """Return the target of each call in each view, and the procedures that each procedure calls there."""
        for view in range(len(self.views)):
            self._targets.append({})
            self._clips.append({})
            self._check_lets(view)
            self._check_masks(view)
            self._check_roles(view)
            self._check_replacements(view)
            own = dict.fromkeys(self.scopes.own(view).values())
            called = set(self.scopes.defined(view))
            known = {let.name for let in self.views[view].lets} | self.views[view].roles.keys()
            for procedure in (*own, *sorted(called - own.keys())):
                self._calls[view, procedure] = []
                self._look_into((view, procedure), known)
        return tuple(self._targets), self._calls

    def _at(self, procedure: int, node: Node) -> At:
        return At(self.places[self.module_of[procedure]], node)

    def _say(self, message: str, at: At, missing: str = "") -> None:
        """Report a mistake only once, since it may be found in several views."""
        if (message, at.place) not in self._said:
            self._said.add((message, at.place))
            self.report(message, at.place, missing)

    @property
    def _is_enough(self) -> bool:
        """Whether there are so many mistakes that no more are reported."""
        return len(self._said) > MAX_PROBLEMS

    def _check_masks(self, view: int) -> None:
        for module in self.scopes.chain(view):
            for mask in module.document.masks:
                self._check_body(view, mask.body, "mask", At(module.document.place, mask))

    def _check_body(self, view: int, body: str, tag: str, at: At) -> None:
        if self._is_enough:
            return
        if view not in self._circular:
            self._circular[view] = where_circles_close(self.views[view].masks)
        if (view, body) not in self._bodies:
            self._bodies[view, body] = what_is_wrong(body, self.views[view].masks, self._circular[view])
        if wrong := self._bodies[view, body]:
            self._say(f"<{tag}> body: {wrong}", at)

    def _check_roles(self, view: int) -> None:
        """Check that a role has the same kind in all files that name it, since it is the same role."""
        for module in self.scopes.chain(view):
            for role in module.document.roles:
                kind = self._kinds.setdefault(role.name, role.kind)
                if kind != role.kind and not self._is_enough:
                    self._say(f"<role> is: found {quoted(role.name)} as a {role.kind}, which another file has as a "
                              f"{kind}; expected one kind, or another name", At(module.document.place, role))

    @cached_property
    def _params(self) -> list[dict[str, None]]:
        """The names of each procedure's parameters, in the order of the text."""
        return [dict.fromkeys(param.texts["name"] for param in procedure.params) for procedure in self.procedures]

    def _look_up(self, within: InView, node: Node) -> None:
        """Find the target of a call; report mistakes."""
        (view, procedure), name = within, node.texts["name"]
        target = self.scopes.find(view, name)
        if target is None:
            if not self._is_enough:
                self._say(self.scopes.what_is_wrong(view, name), self._at(procedure, node), name)
            self._targets[view][node] = self.gap
            return
        self._targets[view][node] = target
        if node.plain is not None and isinstance(target, int):
            self._clips[view][name] = target
            return
        given = next((child for child in node.children if child.tag == "with"), None) if node.children else None
        if isinstance(target, int):
            if given is not None:
                self._say(f"<call> {quoted(name)} is a clip, which has no parameters; leave out <with>",
                          self._at(procedure, node))
            return
        self._calls[within].append(target)
        for part in ("from", "to"):
            if part in node.expressions and not (part == "to" and node.expressions[part].names):
                self._say(f"<call> {part}: found one for the procedure {quoted(name)}, expected it on the call of a "
                          "clip: name the clip whose part is meant", self._at(procedure, node))
        if given is not None and not given.expressions.keys() <= self._params[target[1]].keys():
            self._check_given(given, name, list(self._params[target[1]]), self._at(procedure, node))

    def _check_given(self, given: Node, name: str, known: list[str], at: At) -> None:
        for unknown in sorted(set(given.expressions) - set(known)):
            if self._is_enough:
                return
            there = ", ".join(map(quoted, known[:8])) or "none"
            self._say(f"<with>: found {quoted(unknown)}, expected parameters of {quoted(name)}: {there}"
                      f"{self._suggestions.near(unknown, known)}", at)

    def _check_lets(self, view: int) -> None:
        known = set(self.views[view].roles)
        for let in self.views[view].lets:
            if let.name in self.views[view].roles and not self._is_enough:
                self._say(f"<let>: found the name {quoted(let.name)}, which a <role> already has; expected a name of "
                          "its own", let.at)
            self._check_expression(let.value, known, let.at, "let", "value")
            self._add(let.name, known, let.at, "let")

    def _check_replacements(self, view: int) -> None:
        """Check that a replacement has at least the parameters of the procedure that it replaces."""
        chain = list(self.scopes.chain(view))
        if len(chain) < 2:
            return
        base = self.scopes.own(chain[1].index)
        for name, procedure in self.scopes.own(view).items():
            if base.get(name, procedure) == procedure:
                continue
            missing = sorted(self._params[base[name]].keys() - self._params[procedure].keys())
            if missing:
                self._say(f"<procedure> {quoted(name)} replaces that of {quoted(chain[1].src)} and lacks its "
                          f"parameter {', '.join(map(quoted, missing[:8]))}; expected at least the same ones",
                          At(chain[0].document.place, self.procedures[procedure]))

    def _look_into(self, within: InView, known: set[str]) -> None:
        """Look up the calls of a procedure.

        Check that every name in an expression has a value there, and that no name hides another. known: names of the
        file; unchanged afterwards.
        """
        procedure, own = within[1], list[str]()
        for param in self.procedures[procedure].params:
            self._check_expression(param.expressions["default"], known, self._at(procedure, param), "param", "default")
            own += self._new(param, param.texts["name"], known, procedure)
        self._look_into_block(self.blocks[procedure], known, within)
        known.difference_update(own)

    def _look_into_block(self, nodes: Sequence[Node], known: set[str], within: InView) -> None:
        (view, procedure), own = within, list[str]()
        targets, clips = self._targets[view], self._clips[view]
        for node in nodes:
            if node.plain is not None and (clip := clips.get(node.texts["name"])) is not None:
                targets[node] = clip
                continue
            if node.names and not node.names <= known:
                for attribute, expression in node.expressions.items():
                    self._check_expression(expression, known, self._at(procedure, node), node.tag, attribute)
            if node.tag == "call":
                self._look_up(within, node)
            elif node.tag == "lane":
                body = node.texts.get("body", "whole")
                if self._bodies.get((view, body)) != "":  # else it has been found good
                    self._check_body(view, body, "lane", self._at(procedure, node))
            index = self._new(node, node.texts.get("index", ""), known, procedure) if node.tag == "loop" else ()
            if node.children:  # no deeper than elements may be nested
                self._look_into_block(node.children, known, within)
            if index:
                known.difference_update(index)
            if node.tag == "let":
                own += self._new(node, node.texts["name"], known, procedure)
        known.difference_update(own)

    def _new(self, node: Node, name: str, known: set[str], procedure: int) -> list[str]:
        """Make a name known and return it, unless it is known already or empty."""
        if name in known and not self._is_enough:
            self._say(f"<{node.tag}>: found the name {quoted(name)}, which already has a value here; expected a name "
                      "of its own", self._at(procedure, node))
        if not name or name in known:
            return []
        self._add(name, known, self._at(procedure, node), node.tag)
        return [name]

    def _add(self, name: str, known: set[str], at: At, tag: str) -> None:
        """Make a name known; report the first one above the limit."""
        known.add(name)
        if len(known) == MAX_NAMES + 1 and not self._is_enough:
            self._say(f"<{tag}>: found more than {MAX_NAMES} names that have values here, expected fewer <let>, "
                      "<param> and indices of loops", at)

    def _check_expression(self, expression: Expression, known: set[str], at: At, tag: str, attribute: str) -> None:
        for name in sorted(expression.names - known):
            if self._is_enough:
                return
            within = "" if name == expression.text.strip() else f" in {quoted(expression.text)}"
            if known:
                there = ", ".join(map(quoted, sorted(known)[:8]))
                expected = f"one that has a value here: {there}{self._suggestions.near(name, known)}"
            else:
                expected = f"{_expected(tag, attribute)}: no name has a value here until <let> or <param> gives it one"
            self._say(f"<{tag}> {attribute}: found the name {quoted(name)}{within}, expected {expected}", at)


def _expected(tag: str, attribute: str) -> str:
    """Return as words what an attribute with an expression must hold."""
    rule = GRAMMAR[tag]
    kind = rule.attributes[attribute].kind if attribute in rule.attributes else rule.open_kind
    return "a value" if kind is None else kind.value
