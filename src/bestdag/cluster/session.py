"""Joining a cluster: its client, its workers, and what must be the same on all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestdag.errors import BestdagError, ClusterError, InvalidParameterError, import_optional
from bestdag.machine import thread_count
from bestdag.wording import count_of, first_names

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Machine", "joined", "machines", "same_everywhere"]

# Seconds: to reach a scheduler, and for a first worker to come.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A worker: where it is, its threads, and the bytes of memory it has left, if limited."""

    address: str
    threads: int
    memory: float | None


@contextmanager
def joined(cluster: Any, *, threads: int | None = None) -> Iterator[Client]:
    """Return the client of a cluster; what was started or opened for it is closed at the end.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, which stays open; the address of a scheduler, such as "tcp://host:8786"; or
        "local", which starts worker processes on this machine.
    threads : int, optional
        Of the workers of "local", all together; one per processor unless given.
    """
    distributed = import_optional("distributed", who="cluster", extra="cluster")
    if isinstance(cluster, distributed.Client):
        yield cluster
    elif cluster == "local":
        from distributed.deploy.utils import nprocesses_nthreads

        n_workers, each = nprocesses_nthreads(thread_count(threads, who="cluster"))
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=each, dashboard_address="127.0.0.1:0"
            ) as started,
            distributed.Client(started) as client,
        ):
            yield client
    elif isinstance(cluster, str) and "://" in cluster:
        try:
            client = distributed.Client(cluster, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"cluster: no scheduler answers at {cluster} ({type(error).__name__}); is it "
                "running, and can this machine reach it?"
            ) from None
        with client:
            yield client
    else:
        needed = "'local' or the address of a scheduler, such as tcp://host:8786"
        raise InvalidParameterError(
            f"cluster: a client of Dask, {needed} is needed, got {cluster!r:.60}"
        ).with_option(f"--cluster: {needed} is needed, got {cluster!r:.60}")


def machines(client: Client) -> list[Machine]:
    """List the workers, by address; refuse those that do not have this version of bestdag."""
    import bestdag

    def greeting(dask_worker: Any) -> tuple[str | None, int, float | None]:
        try:  # runs there; it is sent as code, because the package may not be there
            from bestdag import __version__ as version
        except ImportError:
            version = None
        limit = dask_worker.memory_manager.memory_limit
        left = None if not limit else limit - dask_worker.monitor.get_process_memory()
        return version, dask_worker.state.nthreads, left

    found = client.run(greeting)
    if not found:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ClusterError(
                f"cluster: the scheduler at {client.scheduler.address} has no workers; start some "
                "with: dask worker ADDRESS"
            ) from None
        found = client.run(greeting)
    here = bestdag.__version__
    others = {address: has for address, (has, _, _) in found.items() if has != here}
    if others:
        address, has = min(others.items())
        what = "does not have bestdag" if has is None else f"has bestdag {has}"
        more = "" if len(others) == 1 else f", and {len(others) - 1} more differ"
        raise ClusterError(
            f"cluster: the worker at {address} {what}, this is {here}{more}; install the same "
            "version on all machines"
        )
    return [
        Machine(address, threads, None if left is None else max(0.0, left))
        for address, (_, threads, left) in sorted(found.items())
    ]


def same_everywhere(client: Client, source: str, look: Any, *given: Any) -> Any:
    """Return what every worker sees, or say which ones do not see the same.

    What `look` raises on purpose, it returns.
    """
    found: dict[str, Any] = client.run(look, *given)
    failures = {a: seen for a, seen in sorted(found.items()) if isinstance(seen, BestdagError)}
    if len(failures) == len(found):
        raise next(iter(failures.values()))
    if failures:
        raise ClusterError(
            f"cluster: {source} must be seen by all workers, and "
            f"{_listed(failures)} of {count_of(len(found), 'worker')} "
            f"{'does' if len(failures) == 1 else 'do'} not see it "
            f"({next(iter(failures.values()))}); put it where all machines see it, such as a "
            "shared file system"
        )
    seen = sorted(found.items())
    others = [address for address, facts in seen if facts != seen[0][1]]
    if others:
        raise ClusterError(
            f"cluster: {source} is not the same on all workers: {seen[0][0]} and {others[0]} see "
            "other files or sizes; put it where all machines see it, such as a shared file system"
        )
    return seen[0][1]


def _listed(addresses: Sequence[str] | dict[str, Any]) -> str:
    return first_names(list(addresses))
