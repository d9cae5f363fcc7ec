"""What tests inside Blender share. Without Blender's module only core's tests are collected."""

import gc
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from hashlib import sha256
from inspect import getsource, isfunction
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest

if "PYTEST_XDIST_WORKER" in os.environ and "BLENDER_USER_RESOURCES" in os.environ:
    # Processes side by side each have a user folder. Blender looks once, when its module is imported, so this is first.
    own_folder = Path(os.environ["BLENDER_USER_RESOURCES"]) / os.environ["PYTEST_XDIST_WORKER"]
    own_folder.mkdir(exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(own_folder)

import takt
from takt.tests import beside

MOST_CLIPS_BYTES = 2**26
MOST_RETARGETED_BYTES = 2**27
NEW_OBJECTS = 20_000
"""After so many, garbage is collected; by default after 700, or 2,000."""
LONGEST = ("test_hostile_files.py", "test_fitting_odd_people.py", "test_hostile_scores.py", "test_all_pairs.py",
           "test_fitting_humanoid.py", "test_scene_sitting_down.py", "test_scene_seats.py", "test_scene_holds.py",
           "test_preview_materials.py", "test_fitting_creatures.py")
"""Files whose tests take longest: they run first, so that at the end no process waits for another that runs one."""

if importlib.util.find_spec("bpy") is None:
    collect_ignore = ["blender", "gpu"]


@pytest.fixture(scope="session", autouse=True)
def retargeted_once() -> None:
    """Let scores that are played without a store find clips retargeted before: most play few clips on few bodies."""
    from takt.core.library.store import ClipStore
    from takt.core.playing import score

    kept = ClipStore(max_bytes=MOST_RETARGETED_BYTES)
    vars(score)["ClipStore"] = lambda: kept


@pytest.fixture(scope="session")
def bound_once() -> None:
    """Let what was bound before, with the same settings, be looked up: most tests begin with the sample dancer."""
    from takt.core.binding import BINDING_METHODS, Binding, BindInput, BindSettings

    method, known = BINDING_METHODS["INSIDE"], dict[object, Binding]()

    def bind(body: BindInput, settings: BindSettings, progress: Any) -> Binding:
        values = (getattr(body, each.name) for each in fields(body))
        key = (settings, *(value.tobytes() if hasattr(value, "tobytes") else value for value in values))
        if key not in known or (progress is not None and not progress(1.0)):
            known[key] = method.bind(body, settings, progress)
        return known[key]

    BINDING_METHODS["INSIDE"] = replace(method, bind=bind)


@pytest.fixture(scope="session")
def dancer_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the bound sample dancer be built once; later ones are read from a file, which takes a tenth of the time."""
    import bpy

    from takt.samples import dancer

    build, path, names = dancer.bound_dancer, tmp_path_factory.mktemp("dancer") / "dancer.blend", list[str]()

    def bound_dancer() -> tuple[Any, Any]:
        context: Any = bpy.context
        if not names:
            made = build()
            if len(bpy.data.objects) == len(made) and made[1].find_armature() == made[0]:
                bpy.data.libraries.write(str(path), set(made))
                names.extend(each.name for each in made)
            return made
        with bpy.data.libraries.load(str(path), link=False) as (_, wanted):  # type: ignore
            wanted.objects = [*names]
        read: list[Any] = [*wanted.objects]
        bpy.data.libraries.remove(bpy.data.libraries[path.name])
        for ob in context.selected_objects:
            ob.select_set(False)
        for ob in read:
            context.scene.collection.objects.link(ob)
            ob.select_set(True)
        context.view_layer.objects.active = read[0]
        context.view_layer.update()
        return read[0], read[1]

    vars(dancer)["bound_dancer"] = bound_dancer


class ClipsOnce:
    """Keeps clips that were read and retargeted for later tests, as far as they are of equal files and bodies."""

    def __init__(self) -> None:
        """Find points of equal skins once, as one value: by these retargeted clips are found."""
        from takt.bridge.files.clip_store import CLIPS
        from takt.core.retargeting.skin_points import SkinPoints

        self._clips, self._size, self._entries = CLIPS, 0, CLIPS._entries.copy()
        plain, known = SkinPoints.of, dict[object, SkinPoints]()

        def of(*arrays: Any) -> SkinPoints:
            content = sha256(b"".join(each.tobytes() for each in arrays)).digest()
            key = (content, *((each.shape, each.dtype) for each in arrays))
            if key not in known:
                known[key] = plain(*arrays)
            return known[key]

        SkinPoints.of = of  # type: ignore[method-assign, assignment]

    def keep(self) -> None:
        """Keep what is known now, unless it is much."""
        if self._clips.size <= MOST_CLIPS_BYTES:
            self._entries, self._size = self._clips._entries.copy(), self._clips.size

    def bring_back(self) -> None:
        """Let that be known which was kept."""
        self._clips._entries.update(self._entries)
        self._clips._size = self._size


@pytest.fixture(scope="session")
def clips_once() -> ClipsOnce:
    """Let tests find the clips of those before them: most play the sample dancer's."""
    return ClipsOnce()


@pytest.fixture(scope="module")
def factory_preferences() -> None:
    """Start each file of tests with the preferences of the factory; a test that changes them takes that back itself."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.fixture(scope="module")
def classes_kept(request: pytest.FixtureRequest, factory_preferences: None) -> Iterator[None]:
    """Keep Takt's classes registered through a file of tests: these take nearly all the time of switching on and off.

    All else still starts and ends with each test. A file of tests that switch the extension off by themselves does
    without, so that there it really is off.
    """
    import bpy

    from takt.bridge import language

    register_class, unregister_class, kept = language.register_class, bpy.utils.unregister_class, dict[Any, None]()

    def register_once(cls: Any) -> None:
        if cls not in kept:
            register_class(cls)
            kept[cls] = None

    with pytest.MonkeyPatch.context() as patch:
        if "takt.unregister()" not in getsource(request.module):
            patch.setattr(language, "register_class", register_once)
            patch.setattr(bpy.utils, "unregister_class", lambda cls: None if cls in kept else unregister_class(cls))
        yield
    for cls in reversed(kept):
        unregister_class(cls)


@pytest.fixture
def extension(bound_once: None, dancer_once: None, clips_once: ClipsOnce, classes_kept: None) -> Iterator[None]:
    """Start from an empty file with the extension switched on, and switch it off again afterwards."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)  # a sixth of the time of all settings
    takt.register()
    clips_once.bring_back()
    yield
    clips_once.keep()
    takt.unregister()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while tests are collected: all of these stay in use."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let no garbage collection look at the tests themselves, which stay to the end; with Blender, tests count them."""
    if importlib.util.find_spec("bpy") is None:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


@cache
def may_be_skipped(module: ModuleType) -> bool:
    """Tell whether a file of tests uses packages or programs that --quick may lack, by itself or by what it imports."""
    skipping = {name for name, value in vars(beside).items() if isfunction(value)} - {"real_file", "case_file"}
    namespaces = [each.__globals__ for each in vars(module).values()
                  if isfunction(each) and each.__module__ != beside.__name__]
    return any(skipping & names.keys() for names in (vars(module), *namespaces))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Leave out what wants OGRE itself where whoever started the tests has said that it cannot be had.

    Refuse a slow test outside core: .ci/run leaves slow ones out on one line, and what touches Blender runs on both.
    Mark fast tests of core, which .ci/run runs once: every other one on Blender 4.5, the other half without Blender.
    Those that --quick may skip run on Blender 4.5. Put the longest files first, then those of most tests.
    """
    if wrong := [item.nodeid for item in items if item.get_closest_marker("slow") and "core" not in item.path.parts]:
        raise pytest.UsageError(f"only tests of core may be marked as slow, take the mark from {', '.join(wrong)}")
    for item in items:
        if "core" in item.path.parts and not item.get_closest_marker("slow"):
            item.add_marker("fast_core")
            module: Any = item.getparent(pytest.Module)
            if crc32(item.name.encode()) % 2 and not may_be_skipped(module.obj):
                item.add_marker("other_half")
    left_out = [item for item in items if beside.NO_OGRE and item.get_closest_marker("ogre")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    yield
    counts = Counter(item.path for item in items)
    items.sort(key=lambda item: (LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST),
                                 -counts[item.path], str(item.path)))
