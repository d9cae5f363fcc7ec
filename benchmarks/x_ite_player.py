"""X_ITE, a player of X3D, in Chromium without a window: where it has the joints and the skin of a scene.

Needs `chromium`, and X_ITE beside this file: npm ci --prefix benchmarks/x_ite.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final

import numpy as np

from takt.benchmarks import chromium
from takt.core.clips.clip import Clip
from takt.core.skeletons.skeleton import world_from_pose

WAIT_S: Final = 180
TIMES: Final = 20
SHARES: Final = tuple(round(0.999 * i / (TIMES - 1), 5) for i in range(TIMES))
"""Of a motion, at which it is looked at."""
HERE = Path(__file__).resolve().parent / "x_ite"
PLAYER = HERE / "node_modules" / "x_ite" / "dist"
_KINDS: Final = {".js": "text/javascript", ".css": "text/css"}


class Server(HTTPServer):
    """Serves a page, the player under /x_ite/ and a scene, and waits for what the page finds."""

    def __init__(self, page: bytes, scene: bytes = b"") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page, self.scene, self.found, self.is_done = page, scene, b"", threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Send the page, the scene, or a file of the player."""
        if self.path == "/":
            self._send(self.server.page, "text/html")
        elif self.path == "/scene.x3d":
            self._send(self.server.scene, "model/x3d+xml")
        else:
            path = (PLAYER / self.path.removeprefix("/x_ite/")).resolve()
            if path.is_relative_to(PLAYER) and path.is_file():
                self._send(path.read_bytes(), _KINDS.get(path.suffix, "application/octet-stream"))
            else:
                self.send_error(404)

    def do_POST(self) -> None:
        """Keep what the page found."""
        self.server.found = self.rfile.read(int(self.headers["Content-Length"]))
        self._send(b"", "text/plain")
        self.server.is_done.set()

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def missing() -> str:
    """Return what has to be installed first, "" for nothing."""
    return "" if shutil.which("chromium") and PLAYER.is_dir() else (
        "chromium or X_ITE is missing: apt install chromium; npm ci --prefix benchmarks/x_ite")


def played(scene: bytes, shares: Sequence[float] = SHARES) -> dict[str, Any]:
    """Return what X_ITE makes of a scene at shares of its motion: matrices of joints, and points of the skin."""
    return _shown(_page("page.html").replace(b"SHARES", json.dumps(list(shares)).encode()), scene)


def shapes(scene: bytes) -> dict[str, Any]:
    """Return the corners of the triangles that X_ITE makes of a scene's shapes, in their order, as x, y, z, …"""
    return _shown(_page("shapes.html"), scene)


def _page(name: str) -> bytes:
    return (HERE / name).read_bytes()


def _shown(page: bytes, scene: bytes) -> dict[str, Any]:
    """Return what a page finds in Chromium."""
    server = Server(page, scene)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", *chromium.ARGUMENTS, f"--user-data-dir={profile}", server.address],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            is_done = server.is_done.wait(WAIT_S)
        finally:
            browser.terminate()
            browser.wait(30)
            server.shutdown()
    found: dict[str, Any] = json.loads(server.found) if is_done else {"error": f"nothing within {WAIT_S} s"}
    return found


def farthest(clip: Clip, frames: list[list[dict[str, Any]]], shares: Sequence[float] = SHARES) -> float:
    """Return the greatest distance of X_ITE's joints from a clip's, in metres."""
    skeleton, worst = clip.skeleton, 0.0
    world = world_from_pose(skeleton, clip.sample(np.array(shares) * clip.duration_s))[..., 3]
    for row, frame in zip(world, frames, strict=True):
        matrices: list[np.ndarray] = []
        for joint, there in enumerate(frame):  # which are listed in the order of the tree, as they are read
            own = np.array(there["matrix"]).reshape(4, 4).T
            above = int(skeleton.parents[joint])
            matrices.append(matrices[above] @ own if above >= 0 else own)
            place = (matrices[-1] @ np.append(there["center"], 1.0))[:3]
            worst = max(worst, float(np.linalg.norm(place - row[joint])))
    return worst
