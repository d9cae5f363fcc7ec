"""Make docs/x3d.html, on which the sample dancer dances in X_ITE: python -m docs.x3d_page [--player URL] [PAGE].

The character is exported from Blender as X3D, with its skin, its texture and its dance, and stands in the page; only
X_ITE's script, by which browsers play it, comes from elsewhere. Run by a Python that has Blender's module, as
.dev/blender-5.2/bin/python. --player: another address of that script than its public one.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import checkout  # noqa: F401  (lets `takt` be imported)

import takt
from takt.bridge.scores import score

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = json.loads((_ROOT / "benchmarks" / "x_ite" / "package.json").read_text(encoding="utf-8"))
_PLAYER = f"https://cdn.jsdelivr.net/npm/x_ite@{_PACKAGE['dependencies']['x_ite']}/dist/x_ite.min.js"
_FPS = 15
_BACKGROUND = '<Background skyColor="0.75 0.8 0.85"/>'
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
_FIELD = re.compile(r'(\w+)="([-+.e\d ]{20,})"')
_operators: Any = bpy.ops

PAGE = """<!DOCTYPE html>
<!-- Made by docs/x3d_page.py. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Takt: the dancer in X3D</title>
<script src="{player}"></script>
<style>
html, body {{ margin: 0; height: 100%; font: 16px system-ui, sans-serif; color-scheme: light dark }}
body {{ display: flex; flex-direction: column }}
x3d-canvas {{ flex: 1; width: 100%; min-height: 0 }}
p {{ margin: .5em 1em }}
</style>
</head>
<body>
<x3d-canvas></x3d-canvas>
<p>A score of {segments} calls, performed by Takt and exported by <i>File › Export › Performance</i>: an H-Anim humanoid
with its skin and {seconds:.0f} seconds of dance, in X3D. Drag to look from elsewhere.</p>
<script type="model/x3d+xml" id="scene">{scene}</script>
<script>
addEventListener("load", async () => {{
  const browser = X3D.getBrowser();
  await browser.replaceWorld(await browser.createX3DFromString(document.getElementById("scene").textContent.trim()));
}});
</script>
</body>
</html>
"""


def exported(folder: Path) -> tuple[str, int, float]:
    """Return the dancer as X3D, the number of calls, and the seconds of its dance."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    _operators.takt.add_sample()
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    scene: Any = bpy.context.scene
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = rig
    scene.render.fps = _FPS
    path = folder / "dancer.x3d"
    _operators.takt.export_performance(filepath=str(path))
    text = path.read_text(encoding="utf-8")
    motion = score.motion_of(rig)
    assert motion is not None
    return text, len(motion.layout.window_end_s), motion.duration_s


def shortened(text: str) -> str:
    """Write long lists of numbers with four digits behind the point, tenths of millimetres; shares of time with six."""
    def field(found: re.Match[str]) -> str:
        digits = 6 if found[1] == "key" else 4
        short = _NUMBER.sub(lambda each: f"{float(each[0]):.{digits}f}".rstrip("0").rstrip("."), found[2])
        return f'{found[1]}="{short}"'

    return _FIELD.sub(field, text)


def main(arguments: list[str]) -> int:
    """Export, and write the page."""
    parser = argparse.ArgumentParser(prog="docs.x3d_page", description=__doc__)
    parser.add_argument("page", nargs="?", type=Path, default=_ROOT / "docs" / "x3d.html")
    parser.add_argument("--player", default=_PLAYER)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        scene, segments, seconds = exported(Path(folder))
    scene = scene[scene.index("<X3D"):].replace("<Scene>", f"<Scene>\n{_BACKGROUND}")
    scene = shortened(scene).replace("</script", "<\\/script")
    options.page.write_text(PAGE.format(player=options.player, scene=scene, segments=segments, seconds=seconds),
                            encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
