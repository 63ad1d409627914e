"""``make image``: build the image and try it where an engine is at hand; else take the Dockerfile's own steps here.

Tried: the command says its version; the service answers a request with its token and refuses a wrong one; both run as
a user who may write nowhere but in the two folders. Without an engine, or the image that ours begins with, the
commands are read off container/Dockerfile and carried out in folders of their own; where this is the superuser, under
another user without capabilities, with a root that is mounted read-only.
"""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = ROOT / "container" / "Dockerfile"
USER = 10001
TAG = "publius:tried"
HARD = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp"]
FOLDERS = {
    "docker": ["--tmpfs", f"/data:uid={USER}", "--tmpfs", f"/budgets:uid={USER}"],
    "podman": [],  # it knows no owner of a tmpfs: the volumes of the image, which are theirs
}


def main():
    """Whichever way there is; what was tried, as JSON."""
    engine = next((name for name in ("docker", "podman") if _works(name) and _has_base(name)), None)
    tried = with_engine(engine) if engine else without_engine()
    print(json.dumps({"engine": engine, **tried}))


def _works(engine):
    done = shutil.which(engine) and subprocess.run([engine, "info"], capture_output=True, check=False)
    return bool(done) and done.returncode == 0


def _has_base(engine):
    """Whether the image that ours begins with is here or can be had; what lacks is said in one line."""
    base = re.search(r"^ARG PYTHON=(\S+)", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE).group(
        1
    )
    here = subprocess.run([engine, "image", "inspect", base], capture_output=True, check=False)
    if (
        here.returncode == 0
        or not subprocess.run([engine, "pull", "-q", base], capture_output=True, check=False).returncode
    ):
        return True
    print(
        f"{engine} is here and cannot get {base}: the steps of the Dockerfile are taken without it",
        file=sys.stderr,
    )
    return False


def instructions():
    """The stages of the Dockerfile: for each the pairs of instruction and what follows it, lines joined."""
    text = re.sub(
        r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    pairs = [line.split(" ", 1) for line in text.splitlines() if line.strip()]
    stages = [[]]
    for name, rest in pairs:
        if name == "FROM":
            stages.append([])
        stages[-1].append((name, rest))
    return stages[1:]


def with_engine(engine):
    """Build, and run as hard as it can be run."""
    form = ["--format", "docker"] if engine == "podman" else []  # podman's own form has no HEALTHCHECK
    subprocess.run([engine, "build", *form, "-f", DOCKERFILE, "-t", TAG, ROOT], check=True)
    hard = [*HARD, *FOLDERS[engine]]
    version = subprocess.check_output([engine, "run", "--rm", *hard, TAG, "--version"], text=True).strip()
    name = f"publius-tried-{os.getpid()}"
    call = [engine, "run", "--rm", "--name", name, "--network", "host", *hard, TAG]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as service:
        try:
            answers = ask(
                service,
                lambda: subprocess.check_output(
                    [engine, "exec", name, "cat", "/data/token"], text=True
                ).strip(),
            )
            health = _health(engine, name)
        finally:
            subprocess.run([engine, "stop", name], check=False, capture_output=True)
    return {"version": version, "health": health, **answers}


def _health(engine, name):
    if engine == "podman":  # its health is told by timers of systemd, which need not be there
        subprocess.run([engine, "healthcheck", "run", name], check=True)
        return "healthy"
    for _ in range(90):
        state = subprocess.check_output(
            [engine, "inspect", "-f", "{{.State.Health.Status}}", name], text=True
        ).strip()
        if state == "healthy":
            return state
        time.sleep(1)
    raise SystemExit("the container did not become healthy")


def without_engine():
    """The steps of both stages in a folder that stands for the root of the image."""
    build, final = instructions()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        source, opt = place / "source", place / "opt" / "publius"
        source.mkdir()
        for kind, rest in build:
            if kind == "COPY":
                pattern = rest.split()[0]
                for found in ROOT.glob(pattern):
                    shutil.copy(found, source)
            elif kind == "RUN":
                command = rest.replace("/opt/publius", str(opt)).replace(
                    "python -m", f"{sys.executable} -m", 1
                )
                subprocess.run(["/bin/sh", "-ec", command], cwd=source, check=True, stdout=sys.stderr)
        data = place / "data"
        data.mkdir()
        given = dict(re.findall(r"(\w+)=(\S+)", next(rest for kind, rest in final if kind == "ENV")))
        environment = {
            "PATH": f"{opt}/bin:/usr/bin:/bin", "PUBLIUS_HOME": given["PUBLIUS_HOME"].replace("/data", str(data)),
            "PYTHONDONTWRITEBYTECODE": given["PYTHONDONTWRITEBYTECODE"],
            "PYTHONSAFEPATH": given["PYTHONSAFEPATH"], "TMPDIR": str(data),
        }  # fmt: skip
        user = int(next(rest for kind, rest in final if kind == "USER"))
        hard = _hard(data, opt, user) if os.geteuid() == 0 else []
        if hard:
            os.chown(data, user, user)
        entry = json.loads(next(rest for kind, rest in final if kind == "ENTRYPOINT"))
        command = json.loads(next(rest for kind, rest in final if kind == "CMD"))
        check = json.loads(next(rest for kind, rest in final if kind == "HEALTHCHECK").split("CMD ", 1)[1])
        run = {"cwd": data, "env": environment, "text": True}
        version = subprocess.check_output([*hard, *entry, "--version"], **run).strip()
        read_only = bool(hard) and all(_refused([*hard, "touch", str(where)]) for where in (opt / "x", "/x"))
        call = [*hard, *entry, *(part.replace("/data", str(data)) for part in command)]
        with subprocess.Popen(call, stdout=subprocess.PIPE, **run) as service:
            try:
                answers = ask(service, lambda: (data / "token").read_text(encoding="utf-8").strip())
                healthy = subprocess.run([*hard, *check], check=False, **run).returncode == 0
            finally:
                service.terminate()
        if not healthy or (hard and not read_only):
            raise SystemExit(
                "the health check failed, or there is something to write to where there should not be"
            )
        return {
            "version": version, "user": user if hard else os.geteuid(), "read-only root": read_only,
            "health": "healthy", **answers,
        }  # fmt: skip


def _hard(data, opt, user):
    """What goes before a command, so that it runs as `HARD` says: nothing but ``data`` to write to, and no rights."""
    targets = [subprocess.check_output(["findmnt", "-n", "-o", "TARGET", "-T", path], text=True).strip()
               for path in ("/", opt)]  # fmt: skip
    opened = _opened(Path(sys.base_prefix).resolve(), data.parent / "interpreter")
    mounts = "".join(f"mount -o remount,bind,ro {shlex.quote(target)}; " for target in dict.fromkeys(targets))
    script = f'{opened}mount --bind "$0" "$0"; {mounts}cd "$0"; exec "$@"'
    rights = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all",
              "--bounding-set=-all", "--no-new-privs"]  # fmt: skip
    return ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-ec", script, str(data), *rights]


def _opened(prefix, beside):
    """What to mount first, so that another user can reach the Python that runs this: the image's is in /usr/local.

    Where a folder above it is closed (/root is, where pyenv's lie), an empty one hides that, with Python alone in it.
    """
    closed = next(
        (folder for folder in reversed(prefix.parents) if not folder.stat().st_mode & stat.S_IXOTH), None
    )
    if closed is None:
        return ""
    beside.mkdir(exist_ok=True)
    prefix, beside, closed = (shlex.quote(str(path)) for path in (prefix, beside, closed))
    return (
        f"umask 022; mount --bind {prefix} {beside}; mount -t tmpfs -o mode=755 none {closed}; mkdir -p {prefix}; "
        f"mount --bind {beside} {prefix}; mount -o remount,bind,ro {prefix}; mount -o remount,ro {closed}; "
    )


def _refused(command):
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    return done.returncode != 0 and "Read-only file system" in done.stderr


def ask(service, kept_token):
    """Status codes of a request with the token, which only its file holds, with a wrong one and with none."""
    address, _, told = service.stdout.readline().strip().partition("/#token=")
    if not told:
        raise SystemExit("the service did not start")
    token = kept_token()
    if token in told:
        raise SystemExit("the service printed its token, which a log would keep")
    found = {
        "answered": _status(address, token),
        "wrong token": _status(address, "x" * len(token)),
        "no token": _status(address, None),
    }
    if found != {"answered": 200, "wrong token": 401, "no token": 401}:
        raise SystemExit(f"the service answered {found}")
    return found


def _status(address, token):
    body = {"documents": [{"id": "r1", "text": "The bridge inspection found cracked bearings."}], "epsilon": 10,
            "length": 6}  # fmt: skip
    request = urllib.request.Request(f"{address}/v1/obfuscate", json.dumps(body).encode(), {
        "Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {}),
    })  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


if __name__ == "__main__":
    main()
