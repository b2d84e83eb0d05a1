#!/bin/sh
# Runs the test programs and scripts given as arguments. Each prints TAP ("ok", "not ok", "# SKIP"); one that
# ends without its plan, or badly without saying which test failed, counts as a failure. One that has not ended after
# GF_TEST_SECONDS is stopped with all that it started, and fails. Closes with the count.
limit=${GF_TEST_SECONDS:-1200}
passed=0 failed=0 skipped=0
log=$(mktemp)
# What the program measures of the machine stays with the tests.
XDG_CACHE_HOME=$(mktemp -d)
# fontconfig leaks 288 bytes when it is first used, of which programs with an address sanitizer would tell.
leaks=$(mktemp)
echo leak:libfontconfig.so >"$leaks"
trap 'rm -rf "$log" "$XDG_CACHE_HOME" "$leaks"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP XDG_CACHE_HOME LSAN_OPTIONS="suppressions=$leaks:print_suppressions=0"

for test in "$@"; do
    printf '%s\n' "== $test"
    timeout -k 10 "$limit" "$test" >"$log" 2>&1 </dev/null
    status=$?
    [ "$status" -ne 124 ] || echo "not ok - $test was stopped after $limit s" >>"$log"
    # What cmocka skips it calls "not ok" before its version 2.
    sed -i 's/^not ok\( .*# *SKIP\)/ok\1/' "$log"
    skips=$(grep -ciE '^ok.*# *skip' "$log")
    oks=$(grep -cE '^ok' "$log")
    bad=$(grep -cE '^not ok' "$log")
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "not ok - $test ended with status $status" >>"$log"
    fi
    plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | head -n 1)
    if [ "$bad" -eq 0 ] && { [ -z "$plan" ] || [ "$oks" -ne "$plan" ]; }; then
        bad=1
        echo "not ok - $test ran $oks of ${plan:-an unknown number of} tests" >>"$log"
    fi
    if [ "$bad" -gt 0 ]; then
        cat "$log"
    else
        grep -iE '^ok.*# *skip' "$log"
    fi
    passed=$((passed + oks - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
