#!/bin/bash
# What `make bench-kills` runs, on a machine with a GPU: servers that are killed with -9 at random moments, each under 8 clients that do one
# picture after another. Every picture has to be there and to be the CPU's, whoever did it, and whoever lost its server says so in one line.
# Several groups, each a server and its 8 clients, run beside each other, since most of the time is a server's start and end. The driver does one
# start or end of CUDA after another, so that more groups are no faster. One client of a group writes to a pipe; one of the first group asks for
# the GPU in every tenth picture, and starts it itself where there is no server. Argument: the program. Environment:
#   KILLS=200             servers that are killed
#   GROUPS_AT_ONCE=3      groups that run beside each other
#   MOST_S=115            seconds after which no further server is started
#   CUDA_VISIBLE_DEVICES=N    the GPU (and taskset the processors), where others work beside
#   RESULTS=FILE.json     where the figures go (tests/bench/results/kills-DATE.json, and .txt)
#   GF_COMMIT=NAME        the commit, where git does not know it
set -u
program=$(readlink -f "${1:?the program}")
here=$(dirname "$(readlink -f "$0")")
. "$here/common.sh"
KILLS=${KILLS:-200} GROUPS_AT_ONCE=${GROUPS_AT_ONCE:-3} MOST_S=${MOST_S:-115}
begin kills
trap ': >"$work/stop"; wait; exit 130' INT TERM
export GPUFILTER_OPTS=
need_gpu bench-kills
chain=bilateral=4,equalize # the CPU needs longer than a server, but not long
"$program" --device=cpu -q -i "$here/../../samples/harbour.png" -o "$work/in.jpg" 'resize=w=960:h=600' &&
    "$program" --device=cpu -q -i "$work/in.jpg" -o "$work/right.jpg" "$chain" || exit 1

# ---- a client: one picture after another, until its group ends ----

client() { # GROUP'S FOLDER, NUMBER, file|pipe, auto|cuda
    local folder=$1 number=$2 output=$1/$2.jpg device status lines
    local pictures=0 wrong=0 failed=0 warned=0 twice=0
    [ "$3" = pipe ] && output=-
    until [ -e "$folder/stop" ]; do
        rm -f "$folder/$number.jpg"
        device=auto
        [ $((pictures % 10)) != 0 ] || device=$4
        if [ "$output" = - ]; then
            "$program" --device=$device -i - -o - --format=jpeg "$chain" <"$work/in.jpg" 2>"$folder/$number.said" | cat >"$folder/$number.jpg"
            status=${PIPESTATUS[0]}
        else
            "$program" --device=$device -i "$work/in.jpg" -o "$output" "$chain" 2>"$folder/$number.said"
            status=$?
        fi
        pictures=$((pictures + 1))
        [ "$status" = 0 ] || { failed=$((failed + 1)); cat "$folder/$number.said" >>"$folder/failures"; }
        cmp -s "$folder/$number.jpg" "$work/right.jpg" || wrong=$((wrong + 1))
        mapfile -t lines <"$folder/$number.said"
        [ ${#lines[@]} = 0 ] || { warned=$((warned + 1)); cat "$folder/$number.said" >>"$folder/warnings"; }
        [ ${#lines[@]} -le 1 ] || twice=$((twice + 1))
    done
    echo "$pictures $wrong $failed $warned $twice" >"$folder/$number.counts"
}

# ---- a group: its server is killed and started again ----

group() { # FOLDER, KILLS, THE LAST CLIENT'S DEVICE -> FOLDER/*.counts, FOLDER/kills
    local folder=$1 most=$2 kills=0 i tries server clients=()
    mkdir -p "$folder"
    export XDG_RUNTIME_DIR=$folder/run XDG_CACHE_HOME=$folder/cache
    mkdir -m 700 "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME"
    for i in 1 2 3 4 5 6; do
        client "$folder" $i file auto &
        clients+=($!)
    done
    client "$folder" 7 pipe auto &
    clients+=($!)
    client "$folder" 8 file "$3" &
    clients+=($!)
    while [ $kills -lt "$most" ] && [ $SECONDS -lt "$MOST_S" ] && [ ! -e "$work/stop" ]; do
        "$program" --serve >"$folder/served" 2>&1 &
        server=$!
        for ((tries = 0; tries < 2000; tries++)); do
            [[ $(<"$folder/served") != *serving* ]] && kill -0 "$server" 2>/dev/null || break
            sleep 0.01
        done
        if [[ $(<"$folder/served") != *serving* ]]; then
            echo "a server does not serve: $(cat "$folder/served" "/proc/$server/wchan" 2>&1)" >>"$folder/failures"
            : >"$folder/broken"
        fi
        sleep "$(printf '0.%03d' $((RANDOM % 100)))"
        kill -9 "$server" && kills=$((kills + 1))
        wait "$server" 2>/dev/null
        [ ! -e "$folder/broken" ] || break
    done
    : >"$folder/stop"
    wait "${clients[@]}"
    echo "$kills" >"$folder/kills"
}

run_groups() {
    local i groups=()
    for ((i = 0; i < GROUPS_AT_ONCE; i++)); do
        group "$work/group.$i" $(((KILLS + i) / GROUPS_AT_ONCE)) "$([ $i = 0 ] && echo cuda || echo auto)" &
        groups+=($!)
    done
    wait "${groups[@]}"
} 2>"$work/shell" # which tells of every process that is killed

SECONDS=0
run_groups
seconds=$SECONDS
kills=$(cat "$work"/group.*/kills | awk '{sum += $1} END {print sum + 0}')
read -r pictures wrong failed warned twice <<<"$(cat "$work"/group.*/*.counts |
    awk '{for (i = 1; i <= 5; i++) sum[i] += $i} END {print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0, sum[5] + 0}')"
verdict=ok
[ "$kills" = "$KILLS" ] && [ "$wrong$failed$twice" = 000 ] && [ "$warned" -gt 0 ] || verdict=MISSED
{
    echo "$(nproc) processors; GPU: $gpu; commit $commit; $chain; $GROUPS_AT_ONCE servers at a time, 8 clients each"
    printf '%-58s %8s\n' "servers that were killed, of $KILLS" "$kills" "pictures" "$pictures" "  right" $((pictures - wrong)) "  wrong or missing" "$wrong" \
        "clients that failed" "$failed" "clients that lost their server and said so once" $((warned - twice)) \
        "clients that said more than one line" "$twice" "seconds" "$seconds"
    echo "nothing lost, nothing wrong, one line at most: $verdict"
    sort "$work"/group.*/warnings 2>/dev/null | sed 's/[0-9][0-9]*\.jpg/N.jpg/g; s,/dev/shm/[^ ]*/,,g' | uniq -c | sort -rn | head -8
    [ "$verdict" = ok ] || cat "$work"/group.*/failures 2>/dev/null | head -20
} | tee "${results%.json}.txt"
echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"$commit\", \"gpu\": \"$gpu\", \"processors\": $(nproc), \"chain\": \"$chain\"," \
    "\"groups\": $GROUPS_AT_ONCE, \"kills\": $kills, \"pictures\": $pictures, \"wrong\": $wrong, \"failed\": $failed, \"warned\": $warned," \
    "\"warned_twice\": $twice, \"seconds\": $seconds, \"verdict\": \"$verdict\"}" >"$results" || exit 1
[ "$verdict" = ok ]
