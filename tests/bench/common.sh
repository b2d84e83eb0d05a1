# What several measurements share; to be sourced by those that set $program, $work and $server.
# shellcheck shell=bash disable=SC2154

median() { # of the numbers on standard input, one a line
    sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
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
