"""Fit and predict of TANClassifier on a large table.

python benchmarks/tan_classifier.py [--rows 1000000] [--attributes 20]
"""

import argparse
import os
import time

import numpy as np


def table(n_rows, n_attributes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    columns = []
    for j in range(n_attributes):
        base = y if j % 2 else columns[-1] if columns else y
        noise = rng.integers(0, 5, n_rows)
        columns.append(np.where(rng.random(n_rows) < 0.4, base, noise))
    return np.column_stack(columns), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    from bestdag.sklearn import NaiveBayesClassifier, TANClassifier

    rows, y = table(options.rows, options.attributes)
    print(f"{options.rows:,} rows x {options.attributes} attributes, {options.threads} threads")
    print("classifier             score   type     fit s  predict s  total s  CPU s  accuracy")
    for kind in (np.int64, np.float64):
        data = rows.astype(kind)
        for model in (
            TANClassifier("ll", n_jobs=options.threads),
            TANClassifier("bdeu", n_jobs=options.threads),
            TANClassifier("fnml", n_jobs=options.threads),
            NaiveBayesClassifier(n_jobs=options.threads),
        ):
            cpu = sum(os.times()[:2])
            start = time.perf_counter()
            model.fit(data, y)
            middle = time.perf_counter()
            found = model.predict(data)
            end = time.perf_counter()
            print(
                f"{type(model).__name__:22s} {model.get_params()['score']:6s}  {kind.__name__:7s}"
                f"{middle - start:7.2f} {end - middle:10.2f} {end - start:8.2f}"
                f"{sum(os.times()[:2]) - cpu:7.2f} {np.mean(found == y):9.4f}"
            )


if __name__ == "__main__":
    main()
