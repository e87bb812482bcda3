"""The files of the journeys, written once."""

import pytest

from tests.journeys.ways_in import write_files


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("journeys")
    write_files(folder)
    return folder
