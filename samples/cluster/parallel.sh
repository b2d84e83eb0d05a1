#!/bin/sh
# GNU parallel runs each of N parts in a process of its own. N stands before the arguments of gpufilter:
#   samples/cluster/parallel.sh 4 -i @shards.txt -o 'out/{stem}.tar' --skip-existing resize=w=512
# HOSTS=host1,host2 has the parts done on these machines by ssh, one at a time on each. They need the same folder under the
# same name, and gpufilter. Status: that of the parts; where they differ 75 if another try may help, else 3, 2, 4 or 0.
parts=${1:?the number of parts}
shift
command -v parallel >/dev/null || { echo "$0: GNU parallel is not on this machine" >&2 && exit 3; }
ends=$(mktemp) || exit 75
trap 'rm -f "$ends"' EXIT
seq "$parts" | parallel ${HOSTS:+--jobs 1 --sshlogin "$HOSTS" --workdir .} --joblog "$ends" --quote \
    "${GPUFILTER:-gpufilter}" --shard='{}'/"$parts" "$@"
# A line has the status and the signal of a part in its columns 7 and 8. What has another status, or has not run, failed midway.
status=$(awk -F '\t' -v parts="$parts" '
    BEGIN { rank[0] = 0; rank[4] = 1; rank[2] = 2; rank[3] = 3; rank[75] = 4 }
    NR > 1 { part = $8 != 0 || !($7 in rank) ? 75 : $7; if (rank[part] > rank[worst + 0]) worst = part }
    END { print (NR > parts ? worst + 0 : 75) }' "$ends")
exit "$status"
