#!/bin/sh
# Prints the newest C++ compiler here that this nvcc (the argument) works with; nothing if there is none.
for compiler in g++ g++-14 g++-13 g++-12 g++-11 g++-10 g++-9; do
    if command -v $compiler >/dev/null &&
        echo '#include <vector>' | "$1" -ccbin $compiler -std=c++17 -E -x cu - >/dev/null 2>&1; then
        echo $compiler
        exit
    fi
done
