#!/bin/sh
# Every table of tests/bench/results/README.md but those of worth.sh, from the newest results of `make bench-gpu`,
# `make bench-batch`, `make bench-thumbnail`, `make bench`, `make bench-png` and `make bench-encoders`. Argument: the folder of results.
set -eu
gpu=$(ls "$1"/gpu-*.json | tail -n 1)
cpu=$(ls "$1"/cpu-*.json | tail -n 1)

# value KEY: of the line "KEY": "text" or "KEY": number
fields='
function value(key,  s) {
    s = $0
    if (!match(s, "\"" key "\": ")) return ""
    s = substr(s, RSTART + RLENGTH)
    if (substr(s, 1, 1) == "\"") { s = substr(s, 2); return substr(s, 1, index(s, "\"") - 1) }
    match(s, /^[-0-9.]+/)
    return substr(s, 1, RLENGTH)
}'

awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10) }
/"commit"/ { commit = value("commit") }
/"gpu"/ { gpu = value("gpu") }
/"driver":/ { driver = value("driver") }
/"copy":/ {
    printf "%s, driver %s, %s, commit %s. Kernels alone on a 7680x4320 RGB8 frame, medians; bandwidth counts the picture\n", gpu, driver, date, commit
    printf "read once and written once. The device copies it in %.3f ms (%.0f GB/s).\n\n", value("ms"), value("gb_s")
    print "| chain | ms | GB/s | % of copy | NPP, ms |\n| --- | --- | --- | --- | --- |"
}
/"chain":/ && /"format": "RGB8"/ && !/"failed"/ {
    note = value("note"); npp = value("npp_ms")
    if (note ~ /NPP/) next
    printf "| `%s`%s | %.3f | %.0f | %.0f | %s |\n", value("chain"), note == "" ? "" : " (" note ")", value("ms"), value("gb_s"), value("percent_of_copy"), npp == "" ? "" : sprintf("%.3f", npp)
}
/memory to memory/ {
    if (!seen++) print "\nThe whole pipeline, 8K RGB8 from pinned memory to pinned memory:\n"
    printf "- `%s`: %.2f ms, at most %.2f ms wanted\n", substr(value("name"), 1, index(value("name"), ", memory") - 1), value("measured"), value("at_most")
}' "$gpu"

peers=$(ls "$1"/peers-*.json 2>/dev/null | tail -n 1)
[ -z "$peers" ] || awk "$fields"'
/"date"/ {
    printf "\nBeside the fastest peer that computes the same, ms of kernels alone and of whole calls of the codecs: %s, %s, commit %s.\n\n", value("gpu"), substr(value("date"), 1, 10), value("commit")
    print "| what | gpufilter | peer | ms | times |\n| --- | --- | --- | --- | --- |"
}
/"peer_ms"/ && value("ms") != "" && value("differs") == "" {
    name = "`" value("chain") "`" (value("note") == "" ? "" : " (" value("note") ")") (value("format") == "RGB8" ? "" : ", " value("format"))
    if (!(name in peer)) names[++n] = name
    if (!(name in peer) || value("peer_ms") + 0 < best[name] + 0) { best[name] = value("peer_ms"); peer[name] = value("peer"); own[name] = value("ms") }
}
END {
    for (i = 1; i <= n; i++)
        printf "| %s | %.3f | %s | %.3f | %.2f |\n", names[i], own[names[i]], peer[names[i]], best[names[i]], best[names[i]] / own[names[i]]
}' "$peers"

awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10) }
/"commit"/ { commit = value("commit") }
/"cpu":/ { cpu = value("cpu"); threads = value("threads") }
/"task":/ {
    task = value("task"); tool = value("tool")
    if (task == "batch") {
        batch[++b] = sprintf("| %s | %.1f | %.2f |", tool, 64000 / value("wall_ms"), value("wall_ms") / 1000)
        next
    }
    if (task == "files") next
    if (!(task in seen)) { seen[task] = 1; tasks[++n] = task }
    if (!(tool in known)) { known[tool] = 1; tools[++m] = tool }
    wall[task, tool] = value("wall_ms"); peak[task, tool] = value("peak_mb")
}
END {
    printf "\nWithout a GPU: %s, %d threads, %s, commit %s. A 24-megapixel photograph, JPEG to JPEG (png: PNG to PNG) with whole\n", cpu, threads, date, commit
    printf "processes, milliseconds of wall time, medians of interleaved runs; in brackets the peak of memory in MB.\n\n|  |"
    for (j = 1; j <= m; j++) printf " %s |", tools[j]
    printf "\n| --- |"
    for (j = 1; j <= m; j++) printf " --- |"
    for (i = 1; i <= n; i++) {
        printf "\n| %s |", tasks[i]
        for (j = 1; j <= m; j++) {
            w = wall[tasks[i], tools[j]]
            if (w == "") printf "  |"; else printf " %.0f (%.0f) |", w, peak[tasks[i], tools[j]]
        }
    }
    print ""
    if (b) print "\n64 JPEGs of 1920x1080, `blur=2,equalize`, to JPEG, in one command each:\n\n|  | pictures/s | s |\n| --- | --- | --- |"
    for (i = 1; i <= b; i++) print batch[i]
}' "$cpu"

batch=$(ls "$1"/batch-*.json 2>/dev/null | tail -n 1)
[ -z "$batch" ] || awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10); commit = value("commit"); threads = value("threads") }
/"gpu"/ { gpu = value("gpu"); sub(/:.*/, "", gpu); driver = value("driver"); files = value("files"); chain = value("chain") }
/"codec_gpu_more/ {
    more = value("codec_gpu_more_pictures_s")
    printf "\n%d JPEGs of 1920x1080, `%s`, to JPEG, from and to memory, the start included: %s, driver %s, %d processors, %s, commit %s.\n\n", files, chain, gpu, driver, threads, date, commit
    print "|  | pictures/s | s |\n| --- | --- | --- |"
}
/"name":/ && /"ms":/ {
    name = value("name"); n = files
    if (name ~ / (cpu|cuda|auto)$/ || name ~ /^start/ || name ~ /, one$/) {
        if (name ~ /, one$/) one = value("ms")
        next
    }
    if (name ~ /4 times/) { n = 4 * files; sub(/4 times as many/, n " pictures", name) }
    printf "| %s | %.0f | %.2f |\n", name == "codecs alone" ? "libjpeg-turbo alone: no filter" : name, 1000 * n / value("ms"), value("ms") / 1000
}
END {
    printf "\nWith the GPU codec one picture takes %.2f s and each one more 1/%d s.\n", one / 1000, more
}' "$batch"

thumbnail=$(ls "$1"/thumbnail-*.json 2>/dev/null | tail -n 1)
[ -z "$thumbnail" ] || awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10); commit = value("commit"); cpu = value("cpu"); threads = value("threads") }
/"gpu"/ {
    gpu = value("gpu"); sub(/:.*/, "", gpu)
    printf "\nThumbnails of JPEGs by whole processes, the start included: %d processors of %s, %s, %s, commit %s.\n\n", threads, cpu, gpu == "" ? "no GPU" : gpu, date, commit
    print "| what | tool | pictures/s | s | processor s |\n| --- | --- | --- | --- | --- |"
}
/"task":/ && /"wall_s"/ {
    wall = value("wall_s")
    if (wall != "") printf "| %s | %s | %.1f | %.2f | %.2f |\n", value("task"), value("tool"), value("pictures") / wall, wall, value("processor_s")
}' "$thumbnail"

for png in "$1"/png-*.json; do # a table a machine
awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10) }
/"commit"/ { commit = value("commit") }
/"system"/ { system_ = value("system") }
/"inflate"/ { libpng = value("libpng"); zlib = value("zlib"); inflate = value("inflate") }
/"picture":/ {
    key = value("picture") ", " value("what") (value("what") ~ /own/ ? "" : ", level " value("level"))
    if (!(key in seen)) { seen[key] = 1; keys[++n] = key }
    way = value("codec") == "libpng" ? 0 : value("threads") + 0
    if (way > most) most = way
    ms[key, way] = value("wall_ms"); mb[key, way] = value("bytes") / 1e6
}
END {
    all = ""
    if (most > 2) all = " " most " threads |"
    printf "\nPNG beside libpng %s with zlib %s (all filters, its default strategy), read by %s, %s, commit %s.\n", libpng, zlib, inflate, date, commit
    printf "%s. Milliseconds of wall time,\nfrom memory to a file in memory and back, medians; in brackets the file in MB.\n\n", system_
    printf "|  | libpng | 1 thread | 2 threads |%s\n| --- | --- | --- | --- |%s", all, (all == "" ? "" : " --- |")
    for (i = 1; i <= n; i++) {
        printf "\n| %s |", keys[i]
        for (j = 0; j <= (all == "" ? 2 : 3); j++) {
            way = j == 3 ? most : j
            if (ms[keys[i], way] == "") printf "  |"
            else printf " %.0f%s |", ms[keys[i], way], keys[i] ~ /encode/ ? sprintf(" (%.1f)", mb[keys[i], way]) : ""
        }
    }
    print ""
}' "$png"
done

device=$(ls "$1"/device-png-*.json 2>/dev/null | tail -n 1)
[ -z "$device" ] || awk "$fields"'
/"date"/ { date = substr(value("date"), 1, 10); commit = value("commit"); cpu = value("cpu"); threads = value("threads") }
/"gpu"/ { gpu = value("gpu"); sub(/:.*/, "", gpu) }
/"files"/ && /"chain"/ {
    printf "\nPNGs of level 1, by a GPU alone, by whole programs and by peers, medians: %d threads of %s, %s, %s, commit %s.\n\n", threads, cpu, gpu == "" ? "no GPU" : gpu, date, commit
    print "| what | measured |\n| --- | --- |"
}
/"name":/ && /"value":/ { printf "| %s | %s %s |\n", value("name"), value("value"), value("unit") }' "$device"

encoders=$(ls "$1"/encoders-*.json 2>/dev/null | tail -n 1)
[ -z "$encoders" ] || awk "$fields"'
/"date"/ {
    printf "\nBytes of JPEGs at the SSIMULACRA2 that libjpeg-turbo has at the qualities above the columns, beside its bytes (`--optimize`;\n"
    printf "of each encoder the better of 4:2:0 and 4:4:4), geometric means over a folder: %s, commit %s.\n\n", substr(value("date"), 1, 10), value("commit")
}
/"encoder":/ {
    row = value("folder") " | " value("encoder"); quality = value("quality")
    if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
    if (!(quality in known)) { known[quality] = 1; qualities[++m] = quality }
    ratio[row, quality] = value("ratio")
}
END {
    printf "| pictures | encoder |"
    for (i = 1; i <= m; i++) printf " %s |", qualities[i]
    printf "\n| --- | --- |"
    for (i = 1; i <= m; i++) printf " --- |"
    for (j = 1; j <= n; j++) {
        if (rows[j] ~ /libjpeg-turbo$/) continue
        printf "\n| %s |", rows[j]
        for (i = 1; i <= m; i++) printf " %.3f |", ratio[rows[j], qualities[i]]
    }
    print ""
}' "$encoders"
