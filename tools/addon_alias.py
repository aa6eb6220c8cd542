# SPDX-License-Identifier: GPL-3.0-or-later
"""Make `addon` a second name of the extension's package, whatever Blender or the checkout call it.

In Blender the extension is `bl_ext.user_default.io_carnivores_dragonnest`; where there is no Blender it is the
repository's root, loaded as `io_carnivores_dragonnest`. Tests, benchmarks and scripts say `from addon.io_common import
...` in both. Both names lead to the *same* module objects, so classes and exceptions are identical under either name.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from tools.staging import EXTENSION_ID, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

ALIAS = "addon"


def load_root_package() -> str:
    """Load the repository's root as a package under the extension's id; return that name.

    The name of the checkout's folder must not matter: it may not even be an identifier.
    """
    if EXTENSION_ID not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            EXTENSION_ID, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        if spec is None or spec.loader is None:
            message = f"{ROOT} holds no package"
            raise ImportError(message)
        module = importlib.util.module_from_spec(spec)
        sys.modules[EXTENSION_ID] = module
        spec.loader.exec_module(module)
    return EXTENSION_ID


class AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that answers `addon` and `addon.x.y` with the modules of the real package.

    `real_name` is asked at the first import, not before, so a process that never needs Blender never starts it.
    """

    def __init__(self, real_name: Callable[[], str]) -> None:
        self._real_name = real_name
        self._own_specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Claim the alias and everything below it."""
        del path, target
        if fullname == ALIAS or fullname.startswith(f"{ALIAS}."):
            return ModuleSpec(fullname, self)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module under its real name."""
        module = importlib.import_module(self._real_name() + spec.name.removeprefix(ALIAS))
        self._own_specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing (the module has run under its real name); give it back the spec the machinery overwrote."""
        if module.__spec__ is not None:
            module.__spec__ = self._own_specs.pop(module.__spec__.name)


def install(real_name: Callable[[], str]) -> None:
    """Put the alias in front of every other finder: the path finder would load the files a second time."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder(real_name))
