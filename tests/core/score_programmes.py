"""Random programmes of version 2: blocks, loops, conditions, picks, overriding, lanes in lanes, mirror and reverse."""

from random import Random

CLIPS = {f"moves.Steps.{name}": 0.5 + 0.25 * at for at, name in enumerate(("walk", "kick", "jump", "wave", "bow"))}
_BARE = [name.rpartition(".")[2] for name in CLIPS]
_BODIES = ("whole", "lower", "upper", "right_arm + head", "hands - left_hand")


def programme(seed: int) -> dict[str, str]:
    """Return modules by src, the started one as "". What they call is there; what they mean may be an error."""
    random = Random(seed)
    modules = {}
    names: list[str] = []
    base = ""
    for src in ("dances.First", "dances.Second", "")[random.randrange(3):]:
        writer = _Writer(random, list(names), base)
        modules[src] = writer.module(is_last=src == "")
        names, base = writer.names, src
    return modules


class _Writer:
    """Writes one module that may extend another, of whose procedures it knows the names."""

    def __init__(self, random: Random, inherited: list[str], base: str) -> None:
        self._random, self._inherited, self._base = random, inherited, base
        self._lets: list[str] = []
        self.names = list(inherited)
        self._params = {"p0": ("n", "flag"), "p1": ("n",), "p2": (), "p3": ("flag",)}

    def module(self, is_last: bool) -> str:
        random = self._random
        extends = f' extends="{self._base}"' if self._base else ""
        tick = random.choice((0.25, 0.5, 1))
        lines = [f'<pha version="2" tickLength="{tick}"{extends}>', '<load src="moves.Steps"/>']
        if not self._base or random.random() < 0.5:
            lines.append(f'<let name="bars" value="{random.choice(("2", "3 + 1", "1.5"))}"/>')
        if random.random() < 0.5:
            lines.append('<tempo tick="4" tickLength="0.3" over="2"/>')
        mine = [name for name in self._params if not self._inherited or random.random() < 0.6]
        for name in mine:
            callable_names = [other for other in self._params if other < name]
            lines += self._procedure(name, callable_names)
        if is_last or random.random() < 0.3 or not self._inherited:
            lines += self._procedure("main", list(self._params))
        self.names = sorted({*self.names, *mine})
        return "\n".join([*lines, "</pha>"])

    def _procedure(self, name: str, callable_names: list[str]) -> list[str]:
        known = ["bars"]
        lines = [f'<procedure name="{name}">']
        for param in self._params.get(name, ()):
            default = self._random.choice(("yes", "no")) if param == "flag" else self._number(known, whole=True)
            lines.append(f'<param name="{param}" default="{default}"/>')
            known = [*known, param]
        lines += self._block(known, callable_names, name, 3)
        return [*lines, "</procedure>"]

    def _block(self, known: list[str], callable_names: list[str], name: str, depth: int) -> list[str]:
        lines, known = [], list(known)
        for _ in range(self._random.randint(1, 3)):
            roll = self._random.random()
            if roll < 0.12 and depth:
                new = f"v{len(known)}{depth}"
                lines.append(f'<let name="{new}" value="{self._number(known)}"/>')
                known.append(new)
            elif roll < 0.27 and depth:
                lines += [f'<if test="{self._truth(known)}">', *self._block(known, callable_names, name, depth - 1),
                          "</if>"]
                if self._random.random() < 0.5:
                    lines += [f'<elif test="{self._truth(known)}">',
                              *self._block(known, callable_names, name, depth - 1), "</elif>"]
                if self._random.random() < 0.5:
                    lines += ["<else>", *self._block(known, callable_names, name, depth - 1), "</else>"]
            else:
                lines += self._played(known, callable_names, name, depth, "")
        return lines

    def _played(self, known: list[str], callable_names: list[str], name: str, depth: int, weight: str) -> list[str]:
        random, roll = self._random, self._random.random()
        then = f' transition="{self._number(known)}"' if random.random() < 0.3 else ""
        if roll < 0.1:
            return [f'<wait duration="{self._number(known)}"{then}{weight}/>']
        if roll < 0.25 and depth:
            index = f"i{len(known)}{depth}"
            has_index = random.random() < 0.7
            inner = [*known, index] if has_index else known
            return [f'<loop times="{self._number(known, whole=True)}"{f" index={chr(34)}{index}{chr(34)}" * has_index}'
                    f"{then}{weight}>", *self._block(inner, callable_names, name, depth - 1), "</loop>"]
        if roll < 0.37 and depth:
            lines = [f"<pick{then}{weight}>"]
            for _ in range(random.randint(1, 3)):
                lines += self._played(known, callable_names, name, depth - 1,
                                      f' weight="{random.choice(("1", "2", "0.5"))}"')
            return [*lines, "</pick>"]
        if roll < 0.5 and depth:
            duration = f' duration="{self._number(known)}"' if random.random() < 0.6 else ""
            lines = [f"<together{duration}{then}{weight}>"]
            for _ in range(random.randint(1, 3)):
                mode = random.choice(("replace", "mix", "add"))
                extra = "".join(f' {key}="{self._number(known)}"' for key in ("weight", "weightEnd", "ease", "easeIn",
                                                                              "easeOut") if random.random() < 0.2)
                lines += [f'<lane body="{random.choice(_BODIES)}" mode="{mode}"{extra}>',
                          *self._block(known, callable_names, name, depth - 1), "</lane>"]
            return [*lines, "</together>"]
        return self._call(known, callable_names, name, then + weight)

    def _call(self, known: list[str], callable_names: list[str], name: str, more: str) -> list[str]:
        random = self._random
        for key in ("mirror", "reverse"):
            if random.random() < 0.25:
                more += f' {key}="{self._truth(known)}"'
        if random.random() < 0.3:
            more += f' repeat="{random.randint(1, 3)}"'
        duration = self._number(known)
        if callable_names and random.random() < 0.5:
            target = random.choice(callable_names)
            given = [f'{param}="{self._truth(known) if param == "flag" else random.randint(1, 3)}"'
                     for param in self._params[target] if random.random() < 0.5]
            full = f"{self._base}.{target}" if target in self._inherited and random.random() < 0.3 else target
            if not given:
                return [f'<call name="{full}" duration="{duration}"{more}/>']
            return [f'<call name="{full}" duration="{duration}"{more}><with {" ".join(given)}/></call>']
        if self._base and name in self._inherited and random.random() < 0.3:
            return [f'<call name="{self._base}.{name}" duration="{duration}"{more}/>']
        if random.random() < 0.3:
            more += random.choice((' from="0.25"', ' to="0.3s"', ' from="0.1s" to="1"', ' from="bars / 10" to="0.9"'))
        return [f'<call name="{random.choice(_BARE)}" duration="{duration}"{more}/>']

    def _number(self, known: list[str], whole: bool = False) -> str:
        plain = self._random.choice(("1", "2", "3") if whole else ("1", "2", "0.5", "1.5", "0"))
        numbers = [name for name in known if name != "flag" and not (whole and name[0] in "vb")]
        if not numbers or self._random.random() < 0.6:
            return plain
        name = self._random.choice(numbers)
        return self._random.choice((name, f"{name} + {plain}", f"max({name}, {plain})", f"{plain} * {name}"))

    def _truth(self, known: list[str]) -> str:
        if "flag" in known and self._random.random() < 0.5:
            return self._random.choice(("flag", "not flag"))
        numbers = [name for name in known if name != "flag"]
        if self._random.random() < 0.3:
            return self._random.choice(("yes", "no"))
        return f"{self._random.choice(numbers)} {self._random.choice(('&gt;', '&lt;=', '==', '!='))} 1"
