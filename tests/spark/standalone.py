"""A standalone Spark cluster on loopback from the pip package: a master and workers, started, killed and stopped."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


class Standalone:
    """A master and ``workers`` workers of one core each, each worker in a process group of its own."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        import pyspark

        self._spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._folder, self._count = folder, workers
        self._port = free_port()
        self.master = f"spark://127.0.0.1:{self._port}"
        self._master: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self):
        try:
            self._master = self._start(
                "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(self._port),
                "--webui-port", "0",
            )  # fmt: skip
            self._wait_for("master", b"I have been elected leader")
            for number in range(self._count):
                self.add_worker(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def add_worker(self, number: int) -> None:
        name = f"worker{number}"
        worker = self._start(
            name, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
            "--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / name), self.master,
        )  # fmt: skip
        self.workers.append(worker)
        self._wait_for(name, b"Successfully registered with master")

    def _start(self, name, *arguments):
        environment = {**os.environ, "SPARK_NO_DAEMONIZE": "1", "PYSPARK_PYTHON": sys.executable,
                       "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(self._folder / "local")}  # fmt: skip
        with open(self._folder / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [str(self._spark_class), *arguments], stdout=log, stderr=log, env=environment,
                start_new_session=True,
            )  # fmt: skip

    def _wait_for(self, name, words, seconds=120):
        late = time.monotonic() + seconds
        while words not in (self._folder / f"{name}.log").read_bytes():
            if time.monotonic() > late:
                raise TimeoutError((self._folder / f"{name}.log").read_text())
            time.sleep(0.1)

    def kill_worker(self, number: int) -> None:
        """The worker, its executors and their Python processes, at once."""
        worker = self.workers[number]
        for pid in [*descendants(worker.pid), worker.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait()

    def executors(self, number: int) -> list[int]:
        return descendants(self.workers[number].pid)

    def __exit__(self, *error):
        for process in [*self.workers, *([self._master] if self._master else [])]:
            for pid in descendants(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            process.terminate()
        for process in [*self.workers, *([self._master] if self._master else [])]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def descendants(pid: int) -> list[int]:
    """Processes below ``pid``."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children") if os.path.exists(f"/proc/{pid}") else ():
        try:
            children = [int(child) for child in thread.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
