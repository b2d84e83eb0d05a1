#!/bin/sh
# run.sh TEST... [-- TEST...]: runs test programs and scripts, GF_TEST_JOBS at a time (else one a processor); those after --
# run alone, one after the other. tests/cli/NAME.sh is run by run-cli.sh. Each test prints TAP ("ok", "not ok", "# SKIP"); one
# that ends without its plan, or badly without saying which test failed, counts as a failure. One that has not ended after
# GF_TEST_SECONDS is stopped with all that it started, and fails. While long tests run, a line says how many have ended. Closes
# with the names of what failed, and the count.

# judge STATUS LOG: the log's failures, in full, or what it skipped; the counts are added to the folder's.
judge()
{
    # What cmocka skips it calls "not ok" before its version 2.
    sed -i 's/^not ok\( .*# *SKIP\)/ok\1/' "$2"
    skips=$(grep -ciE '^ok.*# *skip' "$2")
    oks=$(grep -cE '^ok' "$2")
    bad=$(grep -cE '^not ok' "$2")
    if [ "$1" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "not ok - $test ended with status $1" >>"$2"
    fi
    plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$2" | head -n 1)
    if [ "$bad" -eq 0 ] && { [ -z "$plan" ] || [ "$oks" -ne "$plan" ]; }; then
        bad=1
        echo "not ok - $test ran $oks of ${plan:-an unknown number of} tests" >>"$2"
    fi
    if [ "$bad" -gt 0 ]; then
        cat "$2"
        sed -n "s,^not ok[ 0-9-]*,failed: $test: ,p" "$2" >>"$GF_TEST_FOLDER/failed"
    else
        grep -iE '^ok.*# *skip' "$2"
    fi
    echo "$((oks - skips)) $bad $skips" >>"$GF_TEST_FOLDER/counts"
}

# one TEST: runs it with a cache of its own, for what the program measures of the machine. The lines of a test stay together.
one()
{
    test=$1
    case $test in
    tests/cli/*.sh) set -- tests/run-cli.sh "$(basename "$test" .sh)" ;;
    esac
    own=$(mktemp -d "$GF_TEST_FOLDER/XXXXXX")
    mkdir "$own/cache"
    begun=$(date +%s)
    status=again
    while [ $status = again ]; do
        XDG_CACHE_HOME=$own/cache timeout -k 10 "${GF_TEST_SECONDS:-1200}" "$@" >"$own/log" 2>&1 </dev/null
        status=$?
        # The leak sanitizer cannot always stop a thread that ends: that says nothing about leaks.
        if grep -q 'LeakSanitizer has encountered a fatal error' "$own/log" && [ ! -e "$own/again" ]; then
            : >"$own/again"
            status=again
        fi
    done
    [ "$status" -ne 124 ] || echo "not ok - $test was stopped after ${GF_TEST_SECONDS:-1200} s" >>"$own/log"
    {
        echo "== $test ($(($(date +%s) - begun)) s)"
        judge "$status" "$own/log"
    } >"$own/told"
    flock "$GF_TEST_FOLDER/counts" cat "$own/told"
    rm -rf "$own"
}

if [ "$1" = --one ]; then
    one "$2"
    exit 0
fi

# Tests reach servers of their own here, whatever the user's settings say of others.
# shellcheck disable=SC2046 # a list of names
unset $(env | sed -n 's/^\(AWS_[A-Z_0-9]*\|RCLONE_[A-Z_0-9]*\|[A-Za-z]*_proxy\|[A-Z]*_PROXY\)=.*/\1/p')
GF_TEST_FOLDER=$(mktemp -d)
trap 'rm -rf "$GF_TEST_FOLDER"; kill $teller 2>/dev/null' EXIT
# fontconfig leaks 288 bytes when it is first used, of which programs with an address sanitizer would tell.
echo leak:libfontconfig.so >"$GF_TEST_FOLDER/leaks"
LSAN_OPTIONS=suppressions=$GF_TEST_FOLDER/leaks:print_suppressions=0
export CMOCKA_MESSAGE_OUTPUT=TAP GF_TEST_FOLDER LSAN_OPTIONS

: >"$GF_TEST_FOLDER/counts"
: >"$GF_TEST_FOLDER/failed"
all=$(printf '%s\n' "$@" | grep -vcx -e --)
while sleep 15 >&- 2>&-; do
    echo "[$(wc -l <"$GF_TEST_FOLDER/counts") of $all tests have ended]"
done &
teller=$!
jobs=${GF_TEST_JOBS:-$(nproc)}
while [ $# -gt 0 ]; do
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        printf '%s\0' "$1"
        shift
    done | xargs -0 -r -n 1 -P "$jobs" "$0" --one
    while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
    [ $# -eq 0 ] || shift
    jobs=1
done

kill $teller
cat "$GF_TEST_FOLDER/failed"
awk '{ passed += $1; failed += $2; skipped += $3 }
    END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit !(failed == 0 && passed > 0) }' "$GF_TEST_FOLDER/counts"
