#!/bin/sh
# GNU parallel runs each of N parts in a process of its own. N stands before the arguments of gpufilter:
#   samples/cluster/parallel.sh 4 -i @shards.txt -o 'out/{stem}.tar' --skip-existing resize=w=512
# HOSTS=host1,host2 has the parts done on these machines by ssh, one at a time on each. They need the same folder under the
# same name, and gpufilter.
parts=${1:?the number of parts}
shift
seq "$parts" | parallel ${HOSTS:+--jobs 1 --sshlogin "$HOSTS" --workdir .} --quote \
    "${GPUFILTER:-gpufilter}" --shard='{}'/"$parts" "$@"
