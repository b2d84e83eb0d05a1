#!/bin/bash
# What `make bench-kills` runs beside kills.sh, on a machine with a GPU: a crowd of clients at once, a server with little memory, a client and a
# server that stand still. Every picture has to be there and to be the CPU's. Argument: the program. Environment:
#   CROWD=500             clients at once
set -u
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
CROWD=${CROWD:-500}
begin faults
need_gpu bench-kills
keep_apart
mkdir "$work/out" || exit 1
chain=bilateral=10,equalize # the CPU needs longer than a server
"$program" --device=cpu -q -i "$here/../../samples/harbour.png" -o "$work/in.ppm" "resize=w=${WIDTH:-960}" || exit 1
"$program" --device=cpu -q -i "$work/in.ppm" -o "$work/right.ppm" "$chain" || exit 1

crowd() { # CLIENTS, OPTIONS...: as many at once
    local i clients=() count=$1
    shift
    rm -f "$work"/out/*
    for ((i = 0; i < count; i++)); do
        "$program" --log="$work/out/$i.log" "$@" -i "$work/in.ppm" -o "$work/out/$i.ppm" "$chain" 2>"$work/out/$i.said" &
        clients+=($!)
    done
    wait "${clients[@]}"
}

judge() { # HEADING, CLIENTS
    local i right=0 twice
    for ((i = 0; i < $2; i++)); do
        cmp -s "$work/out/$i.ppm" "$work/right.ppm" && right=$((right + 1))
    done
    twice=$(wc -l "$work"/out/*.said | awk '$2 != "total" && $1 > 1' | wc -l)
    printf '%-44s %4d of %d right, %d by the server, %d warned once, %d warned twice\n' "$1" "$right" "$2" "$(cat "$work"/out/*.log | grep -c 'by the server')" \
        "$(wc -l "$work"/out/*.said | awk '$2 != "total" && $1 == 1' | wc -l)" "$twice"
    [ "$right" = "$2" ] && [ "$twice" = 0 ] || : >"$work/broken"
}

start_server
crowd "$CROWD" --device=auto
judge "$CROWD clients at once" "$CROWD"
"$program" --device=cuda -i "$work/in.ppm" -o "$work/slow.ppm" "$chain" &
slow=$!
kill -STOP $slow
crowd 8 --device=cuda
judge "8 clients beside one that stands still" 8
kill -CONT $slow
wait $slow && cmp -s "$work/slow.ppm" "$work/right.ppm" || { echo "the client that stood still has failed" >&2; : >"$work/broken"; }
kill -STOP "$server"
crowd 8 --device=auto
kill -CONT "$server"
judge "8 clients of a server that stands still" 8
stop_server
start_server --memory=8M --device-memory=8M
crowd 16 --device=auto
judge "16 clients of a server with 8 MB of memory" 16
stop_server
[ ! -e "$work/broken" ]
