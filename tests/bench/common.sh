# What several measurements share; to be sourced by those that set $program. It says what is measured: $commit, $cpu, $system, $gpu,
# $driver.
# shellcheck shell=bash disable=SC2034,SC2154
export LC_ALL=C
bench=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
server=

quotable() { # without what JSON would have to escape
    head -n 1 | tr -d '"\\'
}

commit=${GF_COMMIT:-$(git -C "$bench" describe --always --dirty 2>/dev/null || echo unknown)}
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | quotable)
system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release | quotable)
gpu=$("$program" --devices 2>/dev/null | sed -n 's/^cuda:0  *//p' | quotable)
driver=$("$program" --devices 2>/dev/null | sed -n '2s/^ *driver \([0-9.]*\).*/\1/p')

begin() { # NAME, FOLDER -> $results, where the figures go, and the folder $work in that folder, which goes at the end
    results=${RESULTS:-$bench/results/$1-$(date -u +%Y-%m-%d).json}
    mkdir -p "$(dirname "$results")" || exit 1
    work=$(mktemp -d "${2:-/dev/shm}/gpufilter-bench.XXXXXX") || exit 1
    trap finish EXIT
    trap 'exit 130' INT TERM
}

finish() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null
    rm -rf "$work"
}

need_gpu() { # TARGET
    [ -n "$gpu" ] || { echo "$1: there is no GPU" >&2; exit 3; }
}

keep_apart() { # from the user's server, and from the user's figures
    export XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run GPUFILTER_OPTS=
    mkdir -m 700 "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR" || exit 1
}

start_server() { # OPTIONS...
    local tries=0
    "$program" --serve "$@" >"$work/served" 2>&1 &
    server=$!
    until grep -q serving "$work/served"; do
        [ $((tries += 1)) -le 3000 ] && kill -0 "$server" 2>/dev/null || { cat "$work/served" >&2; exit 1; }
        sleep 0.01
    done
}

stop_server() {
    "$program" --serve=stop && wait "$server" || : >"$work/broken"
    server=
}

# ---- figures ----

median() { # of the numbers on standard input, one a line
    sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
}

note() { # NAME, VALUE, UNIT
    echo "$1|$2|$3" >>"$work/figures"
    printf '%-72s %12s %s\n' "$1" "$2" "$3"
}

figure() { # NAME, COLUMN=2
    awk -F'|' -v name="$1" -v column="${2:-2}" '$1 == name {print $column}' "$work/figures"
}

bar() { # NAME, MEASURED, BAR, UNIT, most|least: nothing where it was not measured
    local verdict
    [ -n "$2" ] && [ -n "$3" ] || return 0
    verdict=$(awk -v m="$2" -v l="$3" -v how="$5" 'BEGIN {print ((how == "most" ? m <= l : m >= l) ? "ok" : "MISSED")}')
    echo "$1|$5|$3|$2|$4|$verdict" >>"$work/bars"
}

print_bars() {
    [ -s "$work/bars" ] || return 0
    printf '\n%-76s %-6s %8s %10s\n' bar '' '' measured
    awk -F'|' '{printf "%-76s %-6s %8s %10s %-10s %s\n", $1, $2, $3, $4, $5, $6}' "$work/bars"
}

same() { # A, B
    cmp -s "$1" "$2" || { echo "bench: $1 differs from $2" >&2; : >"$work/broken"; }
}

# ---- JSON ----

json_head() { # what follows in its second line
    echo "{\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"commit\": \"$commit\", \"cpu\": \"$cpu\", \"threads\": $(nproc),"
    echo " \"gpu\": \"$gpu\", \"driver\": \"$driver\", $1, \"figures\": ["
}

json_notes() {
    awk -F'|' '{printf "%s  {\"name\": \"%s\", \"value\": %s, \"unit\": \"%s\"}", (NR > 1 ? ",\n" : ""), $1, $2, $3} END {print "],"}' \
        "$work/figures"
}

json_bars() { # and the end
    echo ' "bars": ['
    awk -F'|' '{printf "%s  {\"name\": \"%s\", \"at_%s\": %s, \"measured\": %s, \"unit\": \"%s\", \"verdict\": \"%s\"}",
        (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5, $6} END {print "]}"}' "$work/bars"
}
