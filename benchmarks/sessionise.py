"""Mine a generated search log of many events on DuckDB, in memory that is bounded and measured.

python benchmarks/sessionise.py --events 10000000 --memory 2GB
"""

import argparse
import json
import resource
import tempfile
import threading
import time
from pathlib import Path

import duckdb

from findback.mining.searches import SearchMining, mine_searches
from findback.sources.format import SourceOptions
from findback.sources.searchlog.engines import close
from findback.sources.searchlog.warehouse import read_flat_file

COLUMNS = {
    "time": "ts",
    "kind": "action",
    "event_id": "id",
    "client": "client_id",
    "session": "session_id",
    "person": "user_id",
    "query_id": "search_id",
    "query": "query",
    "n_results": "hits",
    "document": "doc",
    "application": "app",
}
ACTIONS = {"search": "search", "click": "click", "shown": "impression"}

# Four rows a search: the search, two results shown, and what the searcher did next. A client's searches come four
# to a visit, in three visits of a hundred reworded each time; one text in twelve finds nothing, four in ten
# searches are clicked.
LOG = """
COPY (
  WITH searches AS (
    SELECT s AS n, s % {clients} AS c, (s // {clients}) AS nth,
           hash(s * 31 + 7) AS h, hash((s // {clients} // 4) * 17 + (s % {clients}) * 1000003) AS v
    FROM range({searches}) t(s)
  ), placed AS (
    SELECT *, TIMESTAMP '2026-01-01'
      + to_seconds(CAST((nth // 4) * 9000 + (nth % 4) * 400 + h % 200 + c % 3600 AS BIGINT))
      + to_microseconds(CAST(h % 1000000 AS BIGINT)) AS ts,
      'topic ' || (v % 5000) || ' ' || (['setup', 'error', 'install', 'limits'])[
        1 + CAST(CASE WHEN v % 100 < 3 THEN nth % 4 ELSE v % 4 END AS INT)] AS text
    FROM searches
  )
  SELECT ts + to_seconds(CAST(k AS BIGINT)) AS ts,
         CASE WHEN k = 0 THEN 'search' WHEN k < 3 THEN 'shown' WHEN h % 10 < 4 THEN 'click' ELSE 'scroll' END AS action,
         n || '-' || k AS id, 'client-' || c AS client_id, 'session-' || c || '-' || (nth // 4) AS session_id,
         CASE WHEN c % 3 = 0 THEN 'user-' || c END AS user_id, 'search-' || n AS search_id,
         CASE WHEN k = 0 THEN text END AS query,
         CASE WHEN k = 0 THEN CASE WHEN v % 5000 % 12 = 0 THEN 0 ELSE 20 END END AS hits,
         CASE WHEN k > 0 THEN 'doc-' || (h % 20000) END AS doc, 'docs' AS app
  FROM placed, range(4) r(k)
) TO '{file}' (FORMAT parquet)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--clients", type=int, default=250_000)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None, help="where the log and the spill go")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        scratch = Path(folder)
        log = scratch / "log.parquet"
        searches = max(4, arguments.events // 4)
        clients = max(1, min(arguments.clients, searches // 4))
        with duckdb.connect(config={"threads": arguments.threads, "memory_limit": "2GB"}) as generator:
            generator.execute(LOG.format(searches=searches, clients=clients, file=log))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        with Spill(scratch) as spill:
            begun = time.perf_counter()
            options = SourceOptions(
                scratch=scratch, memory=arguments.memory, threads=arguments.threads, actions=ACTIONS
            )
            reading = read_flat_file(log, COLUMNS, options)
            mined = mine_searches(reading.table, SearchMining(source="generated", control=100))
            seconds = time.perf_counter() - begun
            close(reading.table.get_backend())
        print(
            json.dumps(
                {
                    "events": searches * 4,
                    "clients": clients,
                    "parquet_mb": round(log.stat().st_size / 1e6),
                    "seconds": round(seconds, 1),
                    "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
                    "rss_after_generating_mb": round(before),
                    "memory_limit": arguments.memory,
                    "peak_spill_mb": round(spill.peak / 1e6),
                    "found": len(mined.found),
                    "counts": mined.counts,
                },
                indent=2,
            )
        )


class Spill:
    """Watches how much lies in DuckDB's temporary folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peak = 0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Spill":
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            size = 0
            for file in self.folder.glob("duckdb-*/*"):
                try:
                    size += file.stat().st_size
                except FileNotFoundError:
                    continue
            self.peak = max(self.peak, size)


if __name__ == "__main__":
    main()
