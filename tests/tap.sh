# What test scripts share; to be sourced.
# shellcheck shell=sh
suite=$(basename "$0" .sh) # stands before the name of each test
count=0

# result NAME PROBLEMS
result()
{
    count=$((count + 1))
    if [ -z "$2" ]; then
        printf '%s\n' "ok $count - $suite: $1"
    else
        printf '%s\n' "$2" | sed 's/^/# /'
        printf '%s\n' "not ok $count - $suite: $1"
    fi
}

# skipped NAME WHY
skipped()
{
    count=$((count + 1))
    printf '%s\n' "ok $count - $suite: $1 # SKIP $2"
}

plan()
{
    echo "1..$count"
}
