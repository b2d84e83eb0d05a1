#!/bin/sh
# Prints the flags that make errors harder to exploit, of those that the compiler knows. Arguments: the sanitizer or "",
# the compiler, its flags. Sanitizers look where _FORTIFY_SOURCE would look, and see more; it needs optimisation.
sanitizer=$1 compiler=$2
shift 2
cflags=$*
# takes CODE FLAGS...
takes()
{
    code=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    printf '#include <stdio.h>\n%s\nint main(void) { return puts("") < 0; }\n' "$code" |
        $compiler $cflags -Werror "$@" -x c -c -o /dev/null - 2>/dev/null
}
found=-U_FORTIFY_SOURCE
for level in 3 2; do
    if [ -z "$sanitizer" ] && takes "_Static_assert(__USE_FORTIFY_LEVEL == $level, \"level\");" \
        -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level; then
        found="$found -D_FORTIFY_SOURCE=$level"
        break
    fi
done
for flag in -fstack-protector-strong -fcf-protection; do
    takes "" $flag && found="$found $flag"
done
echo "$found"
