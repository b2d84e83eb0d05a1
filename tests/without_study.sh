#!/bin/sh
# A program that was built with STUDY=0: it filters pictures, says in one line what it lacks, and help names none of it.
# The program is $GPUFILTER.
. "$(dirname "$0")/tap.sh"
cd "$(dirname "$0")/.." || exit 1
program=${GPUFILTER:?the program that was built with STUDY=0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# answers STATUS PATTERN ARGUMENT...: the exit status and the only line of diagnostics.
answers()
{
    wanted=$1 pattern=$2
    shift 2
    "$program" "$@" >/dev/null 2>"$folder/said"
    got=$?
    [ "$got" -eq "$wanted" ] || echo "$*: exit status $got, not $wanted"
    [ "$(wc -l <"$folder/said")" -eq 1 ] && grep -q "^gpufilter: $pattern" "$folder/said" || cat "$folder/said"
}

picture=samples/harbour.png
result "a chain runs" "$("$program" -i $picture -o "$folder/out.png" blur=2,equalize,normalize 2>&1
    "$program" -i "$folder/out.png" -o "$folder/again.jpg" 2>&1)"
result "what is left out is refused in one line" "$(
    for option in --lab --lab=offset --explain --report=page.html --profile=compare --profile=compare:json --help=study; do
        answers 3 "--[a-z=]*: this program was built without .*(STUDY=0)" -i $picture "$option" blur
    done)"
result "a variant of the study is unknown" "$(for chain in blur=variant=naive equalize=variant=shared transpose:variant=naive; do
    answers 2 "[a-z]*: variant=[a-z]* is none of " -i $picture -o "$folder/none.png" "$chain"
done)"
result "help, manual and completion name none of it" "$(for text in --help --man --completion=bash --completion=zsh --completion=fish; do
    "$program" $text | grep -nE -e '( --|B\\-\\-|-l )(lab|explain)\b|profile=compare|compare:json|naive' | sed "s/^/$text: /"
done)"
plan
