"""What keeps a tree from being a release: asked by `dev.py release`, as sentences that say what to do.

The rules are those of extensions.blender.org (its terms of service, the guidelines of its moderators, the manifest's
schema) as far as a program can check them, and that version, changelog and tag agree.
"""

import ast
import re
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

MAX_ZIP_MIB: Final = 20
"""Our own bound, so that nothing heavy slips in."""
LICENSE: Final = "SPDX:GPL-3.0-or-later"
"""The one that the platform wants of add-ons."""
MAX_REASON: Final = 64
"""Characters of a permission's reason, and of the tagline."""
_VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_HEADING: Final = re.compile(r"^## \[?([^\],\s]+)\]?[,\s–—-]*(.*)$", re.MULTILINE)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_BINARY_ENDINGS: Final = (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".exe", ".whl", ".egg", ".zip",
                          ".jar", ".o", ".a")
_BINARY_STARTS: Final = (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe",
                         b"\xfe\xed\xfa")
_NETWORK: Final = frozenset(("socket", "socketserver", "ssl", "http", "ftplib", "smtplib", "poplib", "imaplib",
                             "xmlrpc", "telnetlib", "requests", "aiohttp", "httpx", "urllib.request", "urllib3",
                             "websockets"))
_FILES: Final = frozenset(("open", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "iterdir",
                           "rglob", "glob", "scandir"))
"""Calls by which a program reaches files."""


def problems_of_text(root: Path) -> Iterator[str]:
    """Yield what is wrong with manifest and changelog."""
    manifest = manifest_of(root)
    version = str(manifest.get("version", ""))
    if not _VERSION.fullmatch(version):
        yield f"blender_manifest.toml: version is {version!r}; write MAJOR.MINOR.PATCH, as 1.0.0"
    if manifest.get("license") != [LICENSE]:
        yield f"blender_manifest.toml: license is {manifest.get('license')}; extensions.blender.org wants [{LICENSE!r}]"
    if "GNU GENERAL PUBLIC LICENSE" not in _text(root / "LICENSE"):
        yield "LICENSE: put the text of the GNU General Public License there"
    if "blender" in str(manifest.get("name", "")).lower():
        yield "blender_manifest.toml: leave the word Blender out of the name"
    if not manifest.get("tags"):
        yield "blender_manifest.toml: name at least one tag"
    reasons = {"tagline": manifest.get("tagline", ""), **manifest.get("permissions", {})}
    for name, reason in reasons.items():
        if not reason or len(reason) > MAX_REASON or not (reason[-1].isalnum() or reason[-1] in ")]}"):
            yield (f"blender_manifest.toml: {name} is {reason!r}; write 1 to {MAX_REASON} characters without a full "
                   "stop at the end")
    yield from _problems_of_changes(_text(root / "CHANGELOG.md"), version)


def _problems_of_changes(changes: str, version: str) -> Iterator[str]:
    found = _HEADING.search(changes)
    if found is None:
        yield f"CHANGELOG.md: begin with a heading '## {version}, YEAR-MONTH-DAY'"
        return
    if found[1] != version:
        yield f"CHANGELOG.md: its newest heading is {found[1]}, the manifest's version {version}; let them agree"
    if not _DATE.fullmatch(found[2].strip()):
        yield f"CHANGELOG.md: {found[1]} says {found[2].strip() or 'no date'!r}; write its date, as 2026-12-24"
    following = _HEADING.search(changes, found.end())
    if not re.search(r"^[-*] ", changes[found.end():following.start() if following else None], re.MULTILINE):
        yield f"CHANGELOG.md: say below {found[1]} what has changed"


def problems_of_git(root: Path, version: str) -> Iterator[str]:
    """Yield what is wrong with the checkout: it is to be the tagged commit, and nothing else."""
    if not (root / ".git").exists():
        yield "this is no checkout of git, so no tag says which version it is"
        return
    if changed := _git(root, "status", "--porcelain").splitlines():
        yield f"git: commit or remove what is changed: {', '.join(line[3:] for line in changed[:5])}"
    tag, here = f"v{version}", _git(root, "rev-parse", "HEAD").strip()
    tagged = _git(root, "rev-list", "-n", "1", tag).strip()
    if not tagged:
        yield f"git: there is no tag {tag}; when all else is well: git tag -a {tag} -m 'Takt {version}'"
    elif tagged != here:
        yield f"git: {tag} is another commit ({tagged[:9]}) than this one ({here[:9]}); raise the version"


def problems_of_zip(archive: Path) -> Iterator[str]:
    """Yield what is wrong with a built extension."""
    size = archive.stat().st_size
    if size > MAX_ZIP_MIB * 2**20:
        yield f"{archive.name}: {size / 2**20:.1f} MiB; at most {MAX_ZIP_MIB} are wanted"
    with zipfile.ZipFile(archive) as packed:
        contents = {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
    for name in ("__init__.py", "blender_manifest.toml", "LICENSE"):
        if name not in contents:
            yield f"{archive.name}: {name} is missing"
    for name, data in contents.items():
        if name.lower().endswith(_BINARY_ENDINGS) or data.startswith(_BINARY_STARTS):
            yield f"{archive.name}: leave {name} out; what cannot be read cannot be reviewed"
        if any(part.startswith(".") or part == "__pycache__" for part in Path(name).parts):
            yield f"{archive.name}: leave {name} out; it is of the checkout alone"
    code = {name: data.decode("utf-8") for name, data in contents.items() if name.endswith(".py")}
    yield from _problems_of_code(code, tomllib.loads(contents.get("blender_manifest.toml", b"").decode("utf-8")))


def _problems_of_code(code: Mapping[str, str], manifest: Mapping[str, Any]) -> Iterator[str]:
    uses: dict[str, str] = {}
    for name, source in sorted(code.items()):
        for what, line in _uses(ast.parse(source)):
            if what == "sys.path":
                yield f"{name}, line {line}: leave sys.path alone; extensions import relatively"
            elif what == "bl_info":
                yield f"{name}, line {line}: leave bl_info out; the manifest replaces it"
            else:
                uses.setdefault(what, f"{name}, line {line}")
    declared = manifest.get("permissions", {})
    for what, where in uses.items():
        if what not in declared:
            yield f"blender_manifest.toml: {where} uses {what}; declare the permission, with its reason"
    for what in declared:
        if what in ("network", "files", "clipboard") and what not in uses:
            yield f"blender_manifest.toml: nothing uses {what}; take the permission out"


def _uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield what a module does that must be declared, or must not be done, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", "") or ""
            names = [alias.name if isinstance(node, ast.Import) else f"{module}.{alias.name}" for alias in node.names]
            if not getattr(node, "level", 0) and any(
                    name == known or name.startswith(f"{known}.") for name in names for known in _NETWORK):
                yield "network", node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == "clipboard":
            yield "clipboard", node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == "path" and getattr(node.value, "id", "") == "sys":
            yield "sys.path", node.lineno
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _FILES:
                yield "files", node.lineno
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(getattr(each, "id", "") == "bl_info" for each in targets):
            yield "bl_info", statement.lineno


def problems_of_command(said: str, version: str) -> Iterator[str]:
    """Yield what is wrong with what the installed `takt --version` says."""
    if said.strip() != f"takt {version}":
        yield f"the wheel: takt --version says {said.strip()!r}, expected 'takt {version}'"


def manifest_of(root: Path) -> dict[str, Any]:
    """Return the manifest of a tree."""
    return tomllib.loads(_text(root / "blender_manifest.toml"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False).stdout
