"""Photograph Takt's panels in each of its languages, ImageMagick and xdotool at hand; look for words that are cut off:

    blender --factory-startup -p 0 0 1400 900 --python docs/languages.py -- IMAGES_FOLDER [LANGUAGE…]

Leaves panels1_LANGUAGE.png, panels2_LANGUAGE.png (scrolled down), editor_LANGUAGE.png and a picture of each menu; of
all languages also languages.png, in which a part of each stands beside the others. Panels folded at first are open.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt import panels, texts
from takt.docs import window
from takt.docs.editor_window import editor, select_block
from takt.docs.reel import SIZE, fill_screen
from takt.docs.window import context, operators, photograph
from takt.samples import dancer

_WHOLE: Final = f"{SIZE[0]}x{SIZE[1]}+{window.LEFT}+{window.TOP}"
_SHEET: Final = "250x620+1117+28"
"""The part of panels1_LANGUAGE.png that languages.png shows."""
_TABS: Final = {"TAKT_PT_bind": "1", "TAKT_PT_skeleton_map": "1", "TAKT_PT_score": "2", "TAKT_PT_music": "2",
                "TAKT_PT_clips": "3", "TAKT_PT_preview": "3", "TAKT_PT_preview_more": "3"}
_COLUMNS: Final = ("1", "2", "2", "3")
"""The tab of each viewport, from the left; a tab's further viewports are scrolled further down."""
_SCROLLS: Final = {"1": 0, "2": 9, "3": 0}
"""Clicks of the wheel from a tab's first viewport to its second one."""
_FURTHER: Final = 18
"""Clicks of the wheel to the second picture."""
_INSIDE: Final = ("row", "column", "box", "split", "grid_flow", "column_flow")
_MENUS: Final = ("TAKT_MT_score_edit", "TOPBAR_MT_file_import", "TOPBAR_MT_file_export")
_SCORE: Final = """<pha version="2" tickLength="0.5">
  <load src="dance.Moves"/>
  <load src="gestures.Greetings"/>
  <role name="stage" is="floor"/>
  <procedure name="main">
    <call name="sway" duration="4" repeat="2"/>
    <pick><call name="disco" duration="4"/><call name="jump" duration="4"/></pick>
    <call name="bow" duration="4"/>
  </procedure>
</pha>
"""
"""Has a role, something to choose, and a repeated block."""


class _Open:
    """A layout in which all panels begin open."""

    def __init__(self, layout: Any) -> None:
        object.__setattr__(self, "_layout", layout)

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(self._layout, name)
        if name == "panel":
            return self._panel
        return (lambda *words, **settings: _Open(found(*words, **settings))) if name in _INSIDE else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._layout, name, value)

    def _panel(self, identifier: str, default_closed: bool = False) -> tuple[Any, Any]:
        header, body = self._layout.panel(identifier, default_closed=False)
        return header, None if body is None else _Open(body)


def unfold() -> None:
    """Let all panels be open from the start, those of the viewport's sidebar on three tabs; before they are known."""
    classes: tuple[Any, ...] = panels._CLASSES
    for cls in classes:
        if issubclass(cls, bpy.types.Panel):
            cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
            cls.bl_category = _TABS.get(cls.__name__, getattr(cls, "bl_category", ""))
            cls.draw = _drawn_open(cls.draw)


def _drawn_open(draw: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def draw_open(panel: Any, context: Any) -> None:
        draw(SimpleNamespace(layout=_Open(panel.layout)), context)

    return draw_open


def steps() -> Iterator[None]:
    """Show the panels, and photograph them in each language; Blender draws at each `yield`."""
    fill_screen()
    chosen = sys.argv[sys.argv.index("--") + 2:] if "--" in sys.argv else []
    spoken = chosen or ["en_US", *texts.LANGUAGES]
    yield
    character()
    yield from window.close_others()
    operators.takt.score_editor()
    for _ in range(3):
        yield
    yield from select_block("sway")
    editor().spaces.active.show_region_ui = True
    for _ in range(3):
        yield
    for name in spoken:
        yield from speak(name)
        photograph(f"editor_{name}.png", _WHOLE)
        for menu in _MENUS:
            yield from open_menu(menu, f"{menu}_{name}.png")
    with context.temp_override(area=editor()):
        operators.screen.area_close()
    yield
    yield from columns()
    for number in (1, 2):
        for name in spoken:
            yield from speak(name)
            photograph(f"panels{number}_{name}.png", _WHOLE)
        for area in areas():
            yield from scroll(area, _FURTHER)
    if not chosen:
        pictures = [str(window.IMAGES / f"panels1_{name}.png") for name in spoken]
        subprocess.run(["magick", "montage", *pictures, "-crop", _SHEET, "+repage", "-tile", "5x", "-geometry", "+2+2",
                        "-colors", "200", f"png8:{window.IMAGES}/languages.png"], check=True)


def speak(name: str) -> Iterator[None]:
    """Let Blender speak a language."""
    view = context.preferences.view
    known = sorted(each.identifier for each in view.bl_rna.properties["language"].enum_items)
    view.language = next(each for each in known if each.startswith(name))
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = name != "en_US"
    for _ in range(3):
        yield


def open_menu(menu: str, name: str) -> Iterator[None]:
    """Photograph an open menu."""
    window.mouse(200, 150)
    yield
    operators.wm.call_menu(name=menu)
    yield
    yield
    photograph(name, _WHOLE)
    window.tell("key", "Escape")
    yield


def character() -> None:
    """Two characters, of which one has a score with all that its panel can show."""
    rig, _ = dancer.bound_dancer()
    dancer.bound_dancer()
    context.view_layer.objects.active = rig
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "show.pha"
        path.write_text(_SCORE, encoding="utf-8")
        operators.takt.import_pha("EXEC_DEFAULT", filepath=str(path), library=str(dancer.LIBRARY))
    operators.takt.find_map()
    operators.takt.tweak()
    operators.takt.bend_report()
    operators.takt.preview()


def columns() -> Iterator[None]:
    """Leave viewports alone in the window, one for each column, each with its tab in the sidebar."""
    for left in range(len(_COLUMNS) - 1, 0, -1):
        widest = max(areas(), key=lambda area: area.width)
        with context.temp_override(area=widest):
            operators.screen.area_split(direction="VERTICAL", factor=left / (left + 1))
        yield
    for area in areas():
        area.spaces.active.show_region_ui = True
        area.spaces.active.show_region_toolbar = area.spaces.active.show_region_header = False
    yield
    seen = dict.fromkeys(_COLUMNS, 0)
    for area, tab in zip(sorted(areas(), key=lambda area: area.x), _COLUMNS, strict=True):
        region = next(region for region in area.regions if region.type == "UI")
        region.active_panel_category = tab
        yield
        yield from scroll(area, _SCROLLS[tab] * seen[tab])
        seen[tab] += 1


def scroll(area: Any, clicks: int) -> Iterator[None]:
    """Turn the mouse's wheel over the sidebar of a viewport."""
    region = next(region for region in area.regions if region.type == "UI")
    window.mouse(region.x + region.width // 2 + window.LEFT, 450)
    yield
    for _ in range(clicks):
        window.tell("click", "5")
    yield


def areas() -> list[Any]:
    """Return the areas of the window."""
    return list(context.window_manager.windows[0].screen.areas)


unfold()
window.run(steps())
