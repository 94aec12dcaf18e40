"""What host programs ask of scikit-learn and pandas, by NumPy: the stub gives these modules to the scripts."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np


def shuffle(*arrays: Any) -> Any:
    """The rows of arrays in one new order."""
    order = np.random.permutation(len(arrays[0]))
    found = [array[order] for array in arrays]
    return found if len(found) > 1 else found[0]


def resample(*arrays: Any, n_samples: int) -> Any:
    """Rows that are drawn with replacement, the same of each array."""
    drawn = np.random.randint(0, len(arrays[0]), n_samples)
    found = [array[drawn] for array in arrays]
    return found if len(found) > 1 else found[0]


def train_test_split(*arrays: Any, test_size: float, random_state: int = 0) -> list[Any]:
    """The first rows and the others of each array."""
    rows = int(len(arrays[0]) * (1 - test_size)) if test_size < 1 else len(arrays[0]) - int(test_size)
    return [part for array in arrays for part in (array[:rows], array[rows:])]


class KFold:
    """Splits of the rows into training and test."""

    def __init__(self, n_splits: int) -> None:
        self.n_splits = n_splits

    def split(self, rows: Any) -> Iterator[tuple[Any, Any]]:
        """The numbers of the rows of each split."""
        for test in np.array_split(np.arange(len(rows)), self.n_splits):
            yield np.setdiff1d(np.arange(len(rows)), test), test


class DataFrame:
    """A table of one column."""

    def __init__(self, rows: Any, columns: list[str]) -> None:
        self.values, self.columns = np.asarray(rows), columns

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.values.shape

    @property
    def iloc(self) -> DataFrame:
        """The same, by the numbers of rows."""
        return self

    def __getitem__(self, key: Any) -> DataFrame:
        return self if isinstance(key, (str, list)) and key else DataFrame(self.values[key], self.columns)

    def sample(self, n: int = 0, frac: float = 0.0) -> DataFrame:
        """Rows that are drawn."""
        order = np.random.permutation(len(self))[: n or int(len(self) * frac)]
        return DataFrame(self.values[order], self.columns)


def modules() -> dict[str, ModuleType]:
    """The modules by their names."""
    members: dict[str, dict[str, object]] = {
        "sklearn": {},
        "sklearn.utils": {"shuffle": shuffle, "resample": resample},
        "sklearn.model_selection": {"train_test_split": train_test_split, "KFold": KFold},
        "pandas": {"DataFrame": DataFrame},
    }
    found = {}
    for name, given in members.items():
        found[name] = ModuleType(name)
        vars(found[name]).update(given)
    return found
