"""The archives of a list under Ray Data: a map over the list, by actors that each have a GPU, or a processor where there is none.

    python3 samples/cluster/ray_data.py shards.txt out 4 --memory=4G resize=w=512

makes out/X.tar of each archive X.tar that shards.txt names, with four actors and these arguments of gpufilter. An actor gives one
process a block of the list, so that the GPU is awake throughout. The results are a line of JSON for each archive: bad pictures and
archives are no exceptions. All nodes need gpufilter and the folders. Status: 75 if another try may help, else 4 if something is bad.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import ray

BLOCKS = 8  # for each actor: few, so that a process does many archives, but enough to share the work evenly
TRIES = 5


class Filter:
    def __init__(self, folder, arguments):
        self.folder, self.arguments = folder, arguments
        self.program = os.environ.get("GPUFILTER", "gpufilter")

    def run(self, names):
        """Does what is not done of a block. Where Ray kills the actor, setpriv has the process ended, too."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as block:
            block.write("".join(f"{name}\n" for name in names))
            block.flush()
            return subprocess.run(["setpriv", "--pdeathsig=TERM", self.program, "-q", "--skip-existing", "-i", f"@{block.name}",
                                   "-o", f"{self.folder}/{{stem}}.tar", *self.arguments], stderr=subprocess.PIPE, text=True)

    def result(self, name, ended):
        """What the program said of the archive, or else what the record beside the output says."""
        said = ended.stderr.splitlines()
        why = [line for line in said if line.startswith(f"gpufilter: {name}: ") and "done before" not in line]
        if why or ended.returncode not in (0, 4, 75):
            bad = ended.returncode == 4 or any("damaged archive" in line for line in why)
            return {"input": name, "status": 4 if bad else 75, "done": 0, "failed": why or said[-1:]}
        with open(os.path.join(self.folder, os.path.basename(name) + ".json")) as file:
            record = json.load(file)
        return {"input": name, "status": 4 if record["failed"] else 0, "done": record["done"],
                "failed": [each["message"] for each in record["failed"]]}

    def __call__(self, block):
        names = [str(name) for name in block["item"]]
        for tried in range(TRIES):
            ended = self.run(names)
            if ended.returncode in (0, 2, 4):
                break
            if ended.returncode == 3:  # this machine lacks what is needed: Ray starts the actor again, elsewhere if it can
                os._exit(3)
            time.sleep(2**tried)
        assert ended.returncode != 2, ended.stderr
        results = [self.result(name, ended) for name in names]
        return {key: [each[key] for each in results] for key in results[0]}


def main(path, folder, actors, *arguments):
    with open(path) as file:
        names = [line.split("\t")[0].rstrip("\n") for line in file]
    printed = os.fdopen(os.dup(1), "w")  # Ray's own messages go to standard error
    os.dup2(2, 1)
    ray.init()
    gpus = 1 if ray.cluster_resources().get("GPU") else 0
    results = ray.data.from_items(names, override_num_blocks=min(len(names), BLOCKS * int(actors))).map_batches(
        Filter, fn_constructor_args=(folder, arguments), batch_size=None, compute=ray.data.ActorPoolStrategy(size=int(actors)),
        num_gpus=gpus, num_cpus=0 if gpus else 1, max_restarts=TRIES, max_task_retries=TRIES)
    worst = 0
    for each in results.iter_rows():
        print(json.dumps({**each, "failed": list(each["failed"])}), file=printed, flush=True)
        worst = max(worst, each["status"])
    return worst


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
