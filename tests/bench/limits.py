#!/usr/bin/env python3
"""What bounds the kernels of `make bench-limits`. Argument: the CSV of `ncu --csv --page raw --print-units base --nvtx`, in which each
kernel carries the range [chain|note|format] that bench-gpu pushed. Prints a row for each kernel: its time, how much of the
device's memory rate, issue slots, shared memory and tensor cores it uses (per cent of their peaks), how many of the warps that fit are
there, and what a warp that does not issue waits for. A chain's share of the copy is the copy's time by its own."""
import csv
import re
import sys

RANGE = re.compile(r"\[([^|\]]*)\|([^|\]]*)\|([^\]]*)\]")
STALL = re.compile(r"issue_stalled_(\w+)_per_issue_active")
WAITS = {
    "long_scoreboard": "global memory",
    "short_scoreboard": "shared memory",
    "barrier": "the block's barrier",
    "math_pipe_throttle": "a busy arithmetic unit",
    "mio_throttle": "the queue of shared memory",
    "lg_throttle": "the queue of global memory",
    "wait": "the instruction before",
    "not_selected": "its turn to issue",
    "no_instruction": "instructions",
}
SHARES = {
    "memory": "gpu__dram_throughput",
    "issue": "smsp__issue_active",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "tensor": "sm__inst_executed_pipe_tensor_op_imma",
    "warps": "sm__warps_active",
}


def read_rows(path):
    """The CSV's rows as dictionaries. What ncu and the program printed before the head is left out, as are the units below it."""
    with open(path, newline="", encoding="utf-8") as file:
        table = csv.DictReader(line for line in file if line.startswith('"'))
        return list(table)[1:]


def number(row, begin):
    """The first metric whose name begins so; 0 where it was not counted."""
    for name, value in row.items():
        if name and name.startswith(begin):
            try:
                return float(value.replace(",", ""))
            except ValueError:
                return 0.0
    return 0.0


def chain_of(row):
    """(chain, note, format) of the range that was open when the kernel ran, or None."""
    for name, value in row.items():
        found = RANGE.search(value or "") if name and "Range" in name else None
        if found:
            return found.groups()
    return None


def waits_for(row):
    """The two greatest reasons why a warp does not issue, in cycles for each instruction."""
    found = [(number(row, name), STALL.search(name).group(1)) for name in row if name and STALL.search(name)]
    return ", ".join(f"{WAITS.get(why, why)} {cycles:.1f}" for cycles, why in sorted(found, reverse=True)[:2])


def main():
    chains = {}
    for row in read_rows(sys.argv[1]):
        chain = chain_of(row)
        if chain:
            chains.setdefault(chain, []).append(row)
    times = {chain: sum(number(row, "gpu__time_duration") for row in rows) for chain, rows in chains.items()}
    copy_ns = times.get(("copy", "", "RGB8"), 0)
    heads = ["kernel", "us"] + list(SHARES) + ["a warp waits for, cycles"]
    print("%-44s %9s %6s %6s %6s %6s %6s  %s" % tuple(heads))
    for chain, rows in chains.items():
        name, note, picture = chain
        share = f"{100 * copy_ns / times[chain]:.0f} %" if picture == "RGB8" and times[chain] else ""
        print(f"{name}{' (' + note + ')' if note else ''}, {picture}: {times[chain] / 1e3:.1f} us{', ' if share else ''}{share}{' of the copy' if share else ''}")
        for row in rows:
            kernel = re.sub(r"^void |\(.*$", "", row.get("Kernel Name", ""))
            shares = [f"{number(row, begin):.0f} %" for begin in SHARES.values()]
            print("  %-42s %9.1f %6s %6s %6s %6s %6s  %s" % (kernel[:42], number(row, "gpu__time_duration") / 1e3, *shares, waits_for(row)))


main()
