#!/usr/bin/env bash
echo "From the coordinator: TIME IS UP. The machine is needed for the final test run. Discard what is not finished (git checkout), commit what is green and already tested, do not merge main again, start no more builds, tests or measurements, and send your report now." >&2
exit 3
