"""A page in Chromium without a window, told what to do by its DevTools protocol over a pair of pipes.

Source: https://chromedevtools.github.io/devtools-protocol/, domains Target, Page, Runtime and Emulation.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import tempfile
from types import TracebackType
from typing import Any, Final

ARGUMENTS: Final = ("--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
                    "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--no-first-run")
"""With which Chromium draws WebGL by the processor."""
_END: Final = b"\0"
_QUIT_S: Final = 30
_WAIT_S: Final = 600


class Page:
    """A page of a size in pixels. Use it in a `with`."""

    def __init__(self, address: str, width: int, height: int) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_orders, write_orders = os.pipe()
        read_answers, write_answers = os.pipe()
        # Chromium reads orders from its file 3 and writes answers into its file 4.
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_orders} 4>&{write_answers}', "sh", "chromium", *ARGUMENTS,
             f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(read_orders, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_orders)
        os.close(write_answers)
        self._orders, self._answers, self._read = os.fdopen(write_orders, "wb", buffering=0), read_answers, b""
        self._session, self._sent = "", 0
        try:
            made = self._tell("Target.createTarget", url="about:blank")
            self._session = self._tell("Target.attachToTarget", targetId=made["targetId"], flatten=True)["sessionId"]
            self._tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                       mobile=False)
            self._tell("Page.navigate", url=address)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End Chromium."""
        self._orders.close()
        self._process.terminate()
        self._process.wait(_QUIT_S)
        os.close(self._answers)
        self._profile.cleanup()

    def run(self, script: str) -> Any:
        """Return what JavaScript gives, once its promise is kept. Raises RuntimeError where it throws."""
        found = self._tell("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            thrown = found["exceptionDetails"]
            raise RuntimeError(thrown.get("exception", {}).get("description", thrown["text"]))
        return found["result"].get("value")

    def picture(self, x: float, y: float, width: float, height: float) -> bytes:
        """Return what a part of the page looks like, as PNG; in pixels from its upper left."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self._tell("Page.captureScreenshot", format="png", clip=clip)["data"])

    def _tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return what an order gives. Raises RuntimeError where it is refused, or Chromium ends."""
        self._sent += 1
        order: dict[str, Any] = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        self._orders.write(json.dumps(order).encode() + _END)
        while True:
            answer = json.loads(self._next())
            if answer.get("id") == self._sent:
                break
        if "error" in answer:
            raise RuntimeError(f"Chromium refuses {method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> bytes:
        """Return the next answer, or a notice, of which there are many."""
        while _END not in self._read:
            if not select.select([self._answers], [], [], _WAIT_S)[0]:
                raise RuntimeError(f"Chromium gives no answer within {_WAIT_S} s")
            some = os.read(self._answers, 1 << 16)
            if not some:
                raise RuntimeError("Chromium has ended")
            self._read += some
        answer, _, self._read = self._read.partition(_END)
        return answer
