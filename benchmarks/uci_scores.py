"""The TAN study of Carvalho (2009) on its twelve UCI tables: `bestdag classify --compare` on each.

    python benchmarks/uci_scores.py FOLDER [--parameters mle]

FOLDER holds the tables as CSV files, missing cells empty. Prints a Markdown table: our accuracy
in per cent, and in brackets the one that the paper prints.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# Table 2 of the paper, in the order of --compare.
PRINTED = {
    "letter": (78.48, 77.96, 75.02, 77.98, 82.14, 82.25, 82.12, 82.20),
    "satimage": (78.55, 78.00, 78.00, 78.45, 77.39, 77.39, 77.05, 77.25),
    "chess": (89.06, 88.03, 88.13, 88.03, 88.50, 88.50, 88.50, 88.41),
    "vehicle": (67.69, 62.60, 63.07, 62.84, 67.57, 67.93, 67.46, 68.17),
    "diabetes": (77.91, 77.91, 76.99, 76.99, 77.65, 77.65, 77.65, 77.65),
    "soybean-large": (61.07, 84.29, 92.14, 88.39, 72.66, 62.50, 62.32, 62.86),
    "vote": (92.17, 92.61, 95.21, 93.48, 93.48, 93.91, 93.91, 93.91),
    "heart-statlog": (85.19, 85.19, 84.07, 84.07, 84.07, 84.07, 84.07, 84.07),
    "glass": (93.81, 88.57, 95.24, 92.38, 92.86, 93.81, 91.90, 91.90),
    "iris": (93.33, 92.00, 92.67, 93.33, 92.67, 93.33, 92.67, 93.33),
    "lymphography": (79.31, 77.93, 77.24, 74.48, 74.48, 74.48, 73.79, 73.10),
    "hepatitis": (95.00, 96.25, 93.75, 93.75, 86.25, 83.75, 86.25, 85.00),
}
OPTIONS = {
    "letter": ["--target", "lettr", "--holdout", "5000"],
    "satimage": ["--target", "class", "--holdout", "2000"],
    "chess": ["--target", "class", "--holdout", "1066", "--shuffle"],
    "glass": ["--target", "type", "--drop", "id"],
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parameters", default="dirichlet")
    options = parser.parse_args()
    header = None
    for name, printed in PRINTED.items():
        path = next(options.folder.glob(f"{name}.csv*"))
        command = [sys.executable, "-m", "bestdag", "classify", str(path), "--compare", "--json"]
        command += OPTIONS.get(name, ["--target", "class"])
        command += ["--missing", "drop", "--parameters", options.parameters]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        found = json.loads(done.stdout)["compared"]
        if header is None:
            header = ["table", "rows tested", *found]
            print("| " + " | ".join(header) + " |")
            print("|" + "---|" * len(header))
        cells = [
            f"{100 * one['accuracy']:.2f} ({paper:.2f})"
            for one, paper in zip(found.values(), printed, strict=True)
        ]
        rows = next(iter(found.values()))["rows"]
        print("| " + " | ".join([name, str(rows), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
