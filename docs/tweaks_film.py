"""Make the film of the hand above the score: tweaks.mp4 and its first picture.

    .dev/blender-5.2/bin/python -m docs.tweaks_film PICTURES [FOLDER]

PICTURES is what tweaks_viewport.py has left. The window's pictures come first; then three.js plays the exported dance
in a browser's page, beside Blender's viewport at the same frames. Needs Blender's Python module (bpy), Chromium, and
three.js: npm ci --prefix benchmarks/three_vrm.
"""

import json
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import checkout
import numpy as np

from takt.bridge.files.film import PictureFile, encode_film
from takt.docs.reel import pixels_of
from takt.samples import film

IMAGES: Final = checkout.ROOT / "docs" / "images"
THREE: Final = (checkout.ROOT / "benchmarks" / "three_vrm" / "node_modules" / "three").resolve()
SIZE: Final = 1048, 656
FPS, VIEW_FPS = 4, 8
"""Of the film while a hand works, and of the dance beside the browser's; the film has the higher one."""
MOMENT: Final = 16
"""So many pictures before the end is the one that is kept."""
WAIT_S: Final = 900
_SENSOR: Final = 72.0
"""Blender's viewport sees so many millimetres of its lens's picture, along its longer side."""
_PAGE: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>three.js</title>
<script type="importmap">{"imports": {"three": "/three/build/three.module.js",
                                      "three/addons/": "/three/examples/jsm/"}}</script></head>
<body><script type="module">
import * as THREE from "three";
import {GLTFLoader} from "three/addons/loaders/GLTFLoader.js";
const told = DETAILS, [width, height] = told.size;
const renderer = new THREE.WebGLRenderer({antialias: true, preserveDrawingBuffer: true});
renderer.setSize(width, height);
document.body.append(renderer.domElement);
const half = Object.assign(document.createElement("canvas"), {width: told.half, height}).getContext("2d");
half.font = "24px sans-serif";
half.textAlign = "center";
const scene = new THREE.Scene();
scene.background = new THREE.Color(0x39424d);
scene.add(new THREE.HemisphereLight(0xffffff, 0x606870, 2.2), new THREE.GridHelper(16, 32, 0x5a6470, 0x4a535e));
const sun = new THREE.DirectionalLight(0xffffff, 1.6);
sun.position.set(1, 3, 2);
scene.add(sun);
const camera = new THREE.PerspectiveCamera(told.degrees, width / height, 0.01, 100);
new THREE.Matrix4().set(...told.eye).decompose(camera.position, camera.quaternion, camera.scale);
const gltf = await new GLTFLoader().loadAsync("/dance.glb");
scene.add(gltf.scene);
gltf.scene.traverse(each => { each.frustumCulled = false; });
const mixer = new THREE.AnimationMixer(gltf.scene);
for (const clip of gltf.animations) mixer.clipAction(clip).play();
for (let number = 0; number < told.times.length; ++number) {
  mixer.setTime(told.times[number]);
  renderer.render(scene, camera);
  half.drawImage(renderer.domElement, (told.half - width) / 2, 0);
  half.fillStyle = "rgba(0, 0, 0, 0.7)";
  half.fillRect(told.half / 2 - 165, 36, 330, 36);
  half.fillStyle = "white";
  half.fillText(`three.js ${THREE.REVISION}, in a browser`, told.half / 2, 62);
  const picture = await new Promise(done => half.canvas.toBlob(done, "image/png"));
  await fetch(`/frame/${number}`, {method: "POST", body: picture});
}
await fetch("/done", {method: "POST", body: ""});
</script></body></html>"""


class _Server(ThreadingHTTPServer):
    """Serves the page, three.js and the dance, and keeps the pictures that the page makes."""

    def __init__(self, page: str, dance: bytes, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page, self.dance, self.folder, self.is_done = page, dance, folder, threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Send the page, the dance, or a file of three.js."""
        path = (THREE / self.path.removeprefix("/three/")).resolve()
        if self.path == "/":
            self._send(self.server.page.encode(), "text/html")
        elif self.path == "/dance.glb":
            self._send(self.server.dance, "model/gltf-binary")
        elif path.is_relative_to(THREE) and path.is_file():
            self._send(path.read_bytes(), "text/javascript")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Keep a picture, or that there are no more."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/done":
            self.server.is_done.set()
        else:
            (self.server.folder / f"three_{int(self.path.rpartition('/')[2]):05}.png").write_bytes(data)
        self._send(b"", "text/plain")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def in_three(pictures: Path, count: int, folder: Path) -> None:
    """Let three.js draw the dance at the viewport's frames and from its eye."""
    eye = json.loads((pictures / "eye.json").read_text(encoding="utf-8"))
    across, height = round(eye["size"][0] * SIZE[1] / eye["size"][1]), SIZE[1]
    up = np.array(((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, -1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    half = _SENSOR / 2.0 / eye["lens"] * eye["size"][1] / max(eye["size"])
    told = {"size": [across, height], "half": SIZE[0] // 2, "degrees": float(np.degrees(2.0 * np.arctan(half))),
            "eye": (up @ np.array(eye["matrix"])).ravel().tolist(), "times": [each / VIEW_FPS for each in range(count)]}
    server = _Server(_PAGE.replace("DETAILS", json.dumps(told)), (pictures / "dance.glb").read_bytes(), folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--no-first-run", f"--user-data-dir={profile}",
             f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not server.is_done.wait(WAIT_S):
                raise TimeoutError(f"the page has not drawn all pictures within {WAIT_S} s")
        finally:
            browser.terminate()
            browser.wait(30)
            server.shutdown()


def beside(pictures: Path, folder: Path) -> list[Path]:
    """Return pictures of the viewport with those of the browser's page beside them."""
    views, found = sorted(pictures.glob("view_*.png")), list[Path]()
    in_three(pictures, len(views), folder)
    with PictureFile(*SIZE) as file:
        for number, view in enumerate(views):
            halves = [pixels_of(path) for path in (view, folder / f"three_{number:05}.png")]
            found.append(folder / f"beside_{number:05}.png")
            file.write(np.concatenate(halves, axis=1), found[-1])
    return found


def main(pictures: Path, folder: Path) -> None:
    """Join both parts, and keep the picture of a moment."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, film.quiet():
        at_work = sorted(pictures.glob("window_*.png"))
        files = list[Path]()
        for path in [*np.repeat(np.array(at_work, dtype=object), VIEW_FPS // FPS), *beside(pictures, Path(made))]:
            files.append(Path(made) / f"{len(files):05}.png")
            files[-1].symlink_to(Path(path).resolve())
        (folder / "tweaks.png").write_bytes(files[-MOMENT].read_bytes())
        encode_film(files, folder / "tweaks.mp4", VIEW_FPS, 1.0, SIZE, quality="MEDIUM")


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) > 2 else IMAGES))
