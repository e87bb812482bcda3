"""Files that studies read, by name and checksum: networks, and the UCI tables as papers cut them.

The twenty tables of Silander et al. (2010, 2018) are discretised as their sizes tell. The papers
print rows, columns and mean numbers of states, and all of these follow from one rule: number
columns are cut into three intervals of equal width, empty ones counted, but columns of at most six
different values keep them; row numbers stay; a missing cell is no state. What it is instead they
do not say.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from bestdag import Dataset, DataWarning, FileError, Network, Variable, discretize

__all__ = [
    "CHECKSUMS",
    "OTHER_TABLES",
    "TABLES",
    "UNWHOLE",
    "DataFolder",
    "load_table",
    "table_file",
]


class DataFolder:
    """Files of a folder that has ``uci/`` and ``networks/``; or no folder.

    Parameters
    ----------
    path : path or None

    Raises
    ------
    FileError
        If there is no such folder.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        if self._path is not None and not self._path.is_dir():
            raise FileError(f"data: a folder is needed, got {path}")

    def missing(self, names: Iterable[str]) -> dict[str, str]:
        """Say which of these files cannot be used, and why."""
        found = {}
        for name in dict.fromkeys(names):
            why = self._trouble(name)
            if why is not None:
                found[name] = why
        return found

    def _trouble(self, name: str) -> str | None:
        if self._path is None:
            return "no folder was given"
        path = self._path / name
        if not path.is_file():
            return "is not there"
        return None if _checksum(path) == CHECKSUMS[name] else "has other contents"

    def path(self, name: str) -> Path:
        """Return where a file is that is not missing."""
        assert self._path is not None
        return self._path / name

    def network(self, name: str) -> Network:
        """Load a network such as ``networks/asia.bif``."""
        return _network(self.path(name))


@cache
def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _network(path: Path) -> Network:
    return Network.load(path)


_BINS, _MAX_VALUES = 3, 6
# By number of rows, as in the second paper: name, rows, columns, mean number of states printed.
TABLES: dict[str, tuple[int, int, float]] = {
    "post-operative": (90, 9, 2.9),
    "iris": (150, 5, 3.0),
    "wine": (178, 14, 3.0),
    "glass": (214, 11, 3.3),
    "thyroid": (215, 6, 3.0),
    "heart-statlog": (270, 14, 2.9),
    "breast-cancer": (286, 10, 4.3),
    "heart-hungarian": (294, 14, 2.6),
    "heart-cleveland": (303, 14, 3.1),
    "ecoli": (336, 8, 3.4),
    "liver": (345, 7, 2.9),
    "balance-scale": (625, 5, 4.6),
    "breast-cancer-wisconsin": (699, 11, 2.9),
    "diabetes": (768, 9, 2.9),
    "tic-tac-toe": (958, 10, 2.9),
    "yeast": (1484, 9, 3.7),
    "abalone": (4177, 9, 3.0),
    "page-blocks": (5473, 11, 3.2),
    "adult": (32561, 15, 7.9),
    "shuttle": (58000, 10, 3.0),
}
# The others of Carvalho (2009), cut by the same rule; their sizes here, no number printed.
OTHER_TABLES: dict[str, tuple[int, int, float]] = {
    "lymphography": (148, 19, 0.0),
    "hepatitis": (155, 20, 0.0),
    "vote": (435, 17, 0.0),
    "soybean-large": (683, 36, 0.0),
    "vehicle": (846, 19, 0.0),
    "chess": (3196, 37, 0.0),
    "satimage": (6435, 37, 0.0),
    "letter": (20000, 17, 0.0),
}
# Those with missing cells.
UNWHOLE = (
    "post-operative",
    "breast-cancer",
    "heart-hungarian",
    "heart-cleveland",
    "breast-cancer-wisconsin",
    "adult",
)
_COMPRESSED = ("adult", "letter", "satimage", "shuttle")
# Number columns of two or three different values, not all whole.
_FEW_VALUES = ("lip", "chg", "erl", "pox")


def table_file(name: str) -> str:
    """Return where a table is in the data folder."""
    return f"uci/{name}.csv{'.gz' if name in _COMPRESSED else ''}"


def load_table(folder: DataFolder, name: str, missing: str = "filled") -> Dataset:
    """Read a table as the papers seem to have used it.

    Parameters
    ----------
    folder : DataFolder
    name : str
    missing : {"filled", "state"}, default "filled"
        Missing cells get the most frequent state of their column, or are a state.
    """
    return _load(folder.path(table_file(name)), missing)


@cache
def _load(path: Path, missing: str) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        read = discretize(
            path,
            method="uniform",
            bins=_BINS,
            max_values=_MAX_VALUES,
            missing="keep" if missing == "filled" else "state",
        )
    variables, columns = [], []
    for variable in read.variables:
        codes = read.codes(variable.name).astype(np.int64)
        absent = read.missing(variable.name)
        counts = np.bincount(codes[~absent], minlength=variable.arity)
        codes[absent] = int(counts.argmax())
        counts = np.bincount(codes, minlength=variable.arity)
        if variable.cuts is not None and variable.name not in _FEW_VALUES:
            counts += 1  # an interval counts, seen or not
        seen = np.flatnonzero(counts)
        variables.append(Variable(variable.name, tuple(variable.states[k] for k in seen)))
        columns.append(np.searchsorted(seen, codes))
    return Dataset(variables, columns)


# As `sha256sum` prints them.
_PRINTED = """\
701e6c561f71b55669070c29614f0724b761289aa2c4a35bcc97b638ee881fa2  networks/alarm.bif
2330f233405fbbdf2a485651edd4130d3d09f816e81cb7056842ae6021edabe4  networks/andes.bif
9f770c96940dc4d860b581602120790ac538983b30b28d38631b8184dc7b5f89  networks/asia.bif
cbde509f9c30406667dfd21733610d74e518c6c046f67cb8a9b6e7fbf707b233  networks/barley.bif.gz
05d4ea00a758450eed6fe68ea6de4da05ce0e3e919bd3e8ff7f0bc80a1db4b48  networks/cancer.bif
432c22e661cd0e8235c8d95599ac22ccc261002459f5c4e6e7235b057908fe6e  networks/child.bif
5eae407af6e9bb3186018cb03894e5388850682498c35fc90c97bc83732ca663  networks/diabetes.bif.gz
74dd131e2c6437a39de17f2963d2d16fadd91e70450d1fc20501df05e8dc4f2e  networks/earthquake.bif
cf09960af33dd643771c61e23a89c7815448047f335ffa9ba7d57359bc755548  networks/hailfinder.bif
39f9e706e9208e720a55a98b6811188b33a7292335a53373a9343a0c7065dab4  networks/insurance.bif
19299d5710d9a59b8812e0c811bbabb1230d3e42801d297c7f90dffb4fc1c59e  networks/link.bif
5416fb591447acddb8545a43ae10042c17c5faf81bce74317f025b5cf6c17a51  networks/mildew.bif.gz
decf5ce383c6d1c3010ec3c8419a9fa7520efef924f27f98578bb5332968b6d2  networks/munin1.bif
a4d1d7c7a46af06cc110a8f57be61a9c275e24d124c66b95a44490cad91ba328  networks/pathfinder.bif.gz
1d474376703784f755048daa0fd1ce0be89b5676254e08256c3424e3e4caf805  networks/pigs.bif
b7bd3931192f9e529f0f88bba15fca6cc61ba3c805d5c8ae57eba57ed3b332ec  networks/sachs.bif
3698ccc0f1f74b9f935617d91989e4cdb39edb5360b558216af64047fc88b3b0  networks/survey.bif
433a1c1a795e6a26d4ea41e1916982e7af9c7fff236438f4d4006bbacd226661  networks/water.bif
b36baf97dbcb1ae8d70ae95dd06794ce7878aef96cefc29cd0c8ca0fd9f8aee1  uci/abalone.csv
945ec81d69ee58ee8f4b4ddf42f6b052ff4191e5432c4237dcb931800ae9fff3  uci/adult.csv.gz
00e2a5c172e7aa3b01bc1087b327e88772a07c0e450762e5730f4d0c24af4258  uci/balance-scale.csv
ea7a6dd63731ede595a40069603c6e8db462048a00e47df56180e3ec6e949ab5  uci/breast-cancer-wisconsin.csv
dd76b117fd7af6c2f0fa410255d925b2c6a78706c396436f6b96b5923138fd45  uci/breast-cancer.csv
a3e5eee1290e27fef745dcb1b98c42e300476271b1a352a06961d211588543a5  uci/chess.csv
56a2ba470dea3a8d4101766d4121d1ae2ab0ab95e8d963033922e78835c3c586  uci/diabetes.csv
285ea2b210f6a00fc94235da01d4536f8b42f76aa5cefd081133182efece41bd  uci/ecoli.csv
a25af7bc55893c0f321ce5e50feee56e6360bc89aca061f35fdfec5411c32ce6  uci/glass.csv
fe000983a6cd1e4429b20663c5638ee5c3456c373ef3e7e69e335f503f9b16aa  uci/heart-cleveland.csv
11490c153726905a1e390a8178689d90755c644172a5fa786a83289d5245d62d  uci/heart-hungarian.csv
07f8d7b67caa3f3af98b225c46947939535875dcf0046bfd536dd3ce26390f24  uci/heart-statlog.csv
75f38a2fa28280b059f54a1f42cb8e81afdfeff9e12b6c709d56a1cc4d63b6ea  uci/hepatitis.csv
e1412f8c8c69c78fea91c42d8732f7edeb182234e9a67261b29617cc6097cc7b  uci/iris.csv
8b2c19922197958650ae475666de65a8ae36c1d5dbe35dfe3ad2f5799b5cb82c  uci/letter.csv.gz
ab7c9f801a6fc0568605bda3796a3962d0b940a19ced4060fb1e2ff98438b5cc  uci/liver.csv
0517dfb98fd71982383dd4df846f86b1ab0e95474913fb82c444ca6209624588  uci/lymphography.csv
59fd1a5c74bd27d01f6b20543218e467261d54fdd18e177503ae462ab99a6e0b  uci/page-blocks.csv
2eb7771b18b10359410d92d8bb27d9778d21526dbb187219c3ffd6d89887a73e  uci/post-operative.csv
0dd88d8fa0c765e92d4061b11cdcc52ef709fa0b8dabfb3f8390ae37d5d4103e  uci/satimage.csv.gz
9e9c87f35e4094ba4aa23e91551600195cc4cc6026ed4f120390af29de272ee1  uci/shuttle.csv.gz
467c1f8f12fc5f5e5e641157df0740f6c9d6363b1a1f257eab60ffb1be2f9a4f  uci/soybean-large.csv
a6a8461e9a561e7b0ffdb8cf4e7355bc209e52c8f9aef776c4035db38e7e10cf  uci/thyroid.csv
3f74563599a925d52138ade279eeafc7a34d4d5b1be1661cd273c0020ed4cb8d  uci/tic-tac-toe.csv
c0ae142c409e3ffcea053e6f9bca5bd1f73e6fd7641c7d6422841cd44e08108c  uci/vehicle.csv
660b2ff5cc769d42d9511977ecb034c166b4c1dfcf74a9d80c72cf2f11dc0a03  uci/vote.csv
6d48523af3fbb6cc4ba8e78ca8b960520543befe900c9a79a699422163715cd6  uci/wine.csv
39592b7a2c693d358df6f02073ec7d28894c22e4e3586e3a23bc306b9a4b72e5  uci/yeast.csv
"""
CHECKSUMS = {name: checksum for checksum, name in (line.split() for line in _PRINTED.splitlines())}
