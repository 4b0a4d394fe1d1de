"""Which names of a library are public, and where: the dotted name a reader would write, not the file it stands in.

`click.option` is defined in `click/decorators.py`, `pytest.raises` in `_pytest/python_api.py`, `os.getcwd` in C. People
search for the public name, so imports, `__all__`, star imports and plain aliases are followed within one library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from webseam.local.pysource import Module, Symbol, is_private

MAX_HOPS = 8  # imports followed from a public name to its definition; import cycles end here


@dataclass(slots=True)
class Definition:
    """One public object: its definition, and the dotted names it can be reached under, the best one first."""

    module: Module
    symbol: Symbol
    names: list[str] = field(default_factory=list)


class Library:
    """The modules of one distribution, or of the standard library; `load` parses one, or returns None."""

    def __init__(
        self,
        load: Callable[[str], Module | None],
        *,
        submodules: Mapping[str, tuple[str, ...]],
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self._load = load
        self._modules: dict[str, Module | None] = {}
        self._publics: dict[str, dict[str, Definition | Module]] = {}
        self._submodules = submodules
        self._renamed = dict(renamed or {})

    def module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def shown(self, name: str) -> str:
        """Return the name a module goes by: `os.path` for `posixpath`."""
        return self._renamed.get(name, name)

    def definitions(self, names: list[str]) -> list[Definition]:
        """Return everything public in the named modules, each object once, under its best name."""
        found: dict[tuple[str, str], Definition] = {}
        for name in names:
            for public, target in self.publics(name).items():
                if isinstance(target, Module):
                    continue
                key = (target.module.name, target.symbol.name)
                known = found.setdefault(key, Definition(target.module, target.symbol))
                known.names += [f"{self.shown(name)}.{public}", f"{name}.{public}"]
        preferred = tuple(f"{name}." for name in self._renamed.values())
        for definition in found.values():
            home = f"{definition.module.name}.{definition.symbol.name}"
            definition.names = sorted(
                dict.fromkeys(definition.names),
                key=lambda name: (not name.startswith(preferred), name.count("."), name != home, len(name), name),
            )
        return list(found.values())

    def publics(self, name: str) -> dict[str, Definition | Module]:
        """Return what is public in a module, by its name there."""
        known = self._publics.get(name)
        if known is not None:
            return known
        self._publics[name] = {}  # an import cycle sees nothing rather than itself
        module = self.module(name)
        if module is None:
            return {}
        found: dict[str, Definition | Module] = {}
        names = dict.fromkeys(module.exports or ())
        if module.computed or module.exports is None:
            names.update(dict.fromkeys(self._implied(module)))
        for public in names:
            target = self._resolve(module, public, MAX_HOPS) or self._lazy(module, public)
            if target is not None:
                found[public] = target
        self._publics[name] = found
        return found

    def _implied(self, module: Module) -> Iterator[str]:
        """The public names of a module without `__all__`."""
        for name in module.symbols:
            if not is_private(name):
                yield name
        for name, source in module.aliases.items():
            if not is_private(name) and (is_private(source) or "." in source):
                yield name
        top = module.name.partition(".")[0]
        for name, (source, attribute) in module.imports.items():
            if is_private(name) or attribute is None:
                continue
            owner = source.partition(".")[0]
            own = owner == top or owner.lstrip("_") == top
            if own and (module.is_package or any(map(is_private, source.split(".")))) and name not in module.symbols:
                yield name
        for source in module.stars:
            for name in self.publics(source):
                if not is_private(name) and name not in module.symbols:
                    yield name

    def _resolve(self, module: Module, name: str, hops: int) -> Definition | Module | None:
        """Follow a name from a module to its definition."""
        if name in module.symbols:
            return Definition(module, module.symbols[name])
        if hops == 0:
            return None
        if name in module.imports:
            source, attribute = module.imports[name]
            target = self.module(source)
            if attribute is None:
                return target
            found = self._resolve(target, attribute, hops - 1) if target is not None else None
            return found if found is not None else self.module(f"{source}.{attribute}")
        if name in module.aliases:
            return self._resolve_dotted(module, module.aliases[name].split("."), hops - 1)
        for source in module.stars:
            target = self.module(source)
            found = self._resolve(target, name, hops - 1) if target is not None and target is not module else None
            if found is not None:
                return found
        return None

    def _resolve_dotted(self, module: Module, path: list[str], hops: int) -> Definition | Module | None:
        """Follow `_inst.randint`, `_thread.allocate_lock` or `Class.method`."""
        first, rest = path[0], path[1:]
        if rest and first in module.instances:
            first = module.instances[first]
        target = self._resolve(module, first, hops) if "." not in first else None
        for name in rest:
            if isinstance(target, Module):
                target = self._resolve(target, name, hops)
            elif isinstance(target, Definition) and name in target.symbol.members:
                target = Definition(target.module, target.symbol.members[name])
            else:
                return None
        return target

    def _lazy(self, module: Module, name: str) -> Definition | None:
        """Find a name of `__all__` that is only loaded on first use: the one submodule that defines it has it."""
        if not module.is_package or is_private(name):
            return None
        for submodule in self._submodules.get(module.name, ()):
            loaded = self.module(submodule)
            if loaded is not None and name in loaded.symbols:
                return Definition(loaded, loaded.symbols[name])
        return None

    def inherited(self, definition: Definition) -> Iterator[Symbol]:
        """The public methods a class has from private bases: nobody would look for them under those names."""
        seen = set(definition.symbol.members)
        queue = [(definition.module, base, MAX_HOPS) for base in definition.symbol.bases]
        while queue:
            module, base, hops = queue.pop(0)
            target = self._resolve_dotted(module, base.split("."), hops) if hops else None
            if not isinstance(target, Definition):
                continue
            home = f"{target.module.name}.{target.symbol.name}"
            if not any(map(is_private, home.split("."))):
                continue
            for name, member in target.symbol.members.items():
                if name not in seen and not is_private(name):
                    seen.add(name)
                    yield member
            queue += [(target.module, further, hops - 1) for further in target.symbol.bases]
