"""Writes figures as JSON: the facts, then lists whose elements have a line each, as awk reads them and Git compares them."""
import json


def write(path, facts, **lists):
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(facts)[:-1])
        for name, rows in lists.items():
            file.write(f',\n "{name}": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n]")
        file.write("}\n")
