# Reads what `nvcc -Xptxas -v` says of kernels, a file's log each, and prints a line for each kernel that spills registers or whose
# shared memory exceeds a block's on that architecture; then the numbers of kernels by architecture. Exit status: 1 where shared
# memory exceeds. SPILLS=0 in the environment leaves out the lines of spills.
BEGIN {
    # KB of shared memory of a block, by architecture: opt-in, table "Technical Specifications per Compute Capability"
    split("75 64 80 163 86 99 89 99 90 227 100 227 120 99", words, " ")
    for (i = 1; i in words; i += 2)
        limit["sm_" words[i]] = 1024 * words[i + 1]
}
/Compiling entry function/ {
    split($0, part, "'")
    kernel = part[2]
    arch = part[4]
    kernels[arch]++
}
/bytes spill stores/ {
    stores = $0
    sub(/ bytes spill stores.*/, "", stores)
    sub(/.* /, "", stores)
    if (stores + 0 > 0) {
        spilling[arch]++
        if (ENVIRON["SPILLS"] != "0")
            print FILENAME ": " arch " " kernel ": spills " stores " bytes"
    }
}
/ bytes smem/ {
    shared = $0
    sub(/ bytes smem.*/, "", shared)
    sub(/.* /, "", shared)
    if (arch in limit && shared + 0 > limit[arch]) {
        bad = 1
        print FILENAME ": " arch " " kernel ": " shared " bytes of shared memory, of " limit[arch]
    }
}
END {
    for (arch in kernels)
        printf "%s: %d kernels, %d spill\n", arch, kernels[arch], spilling[arch] | "sort -V"
    exit bad
}
