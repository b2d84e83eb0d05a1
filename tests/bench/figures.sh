#!/bin/sh
# The README's one table of figures beside the peers', from the newest results. The GPU's are those of `make bench-peers`, or of
# `make bench-gpu`, which has NPP alone. Argument: the folder of results.
set -eu
newest() { ls "$1"-*.json | tail -n 1; }
kernels=$(newest "$1/peers" 2>/dev/null || :)

# shellcheck disable=SC2016 # awk's own dollars
awk '
function value(key,  s) {
    s = $0
    if (!match(s, "\"" key "\": ")) return ""
    s = substr(s, RSTART + RLENGTH)
    if (substr(s, 1, 1) == "\"") { s = substr(s, 2); return substr(s, 1, index(s, "\"") - 1) }
    match(s, /^[-0-9.]+/)
    return substr(s, 1, RLENGTH)
}
# "2.31 s", "165 ms", "0.081 ms": three digits
function shown(ms) { ms += 0; return ms >= 1000 ? sprintf("%.2f s", ms / 1000) : sprintf(ms >= 10 ? "%.0f ms" : ms >= 1 ? "%.2f ms" : "%.3f ms", ms) }
function row(what, own, peer, name) {
    printf "| %s | %s | %s: %s | %.*f |\n", what, shown(own), name, shown(peer), peer / own < 10, peer / own
}
FILENAME == ARGV[1] && /"cpu":/ { cpu = value("cpu"); threads = value("threads") }
FNR < 9 && /"date":/ { date[FILENAME] = substr(value("date"), 1, 10) }
FNR < 9 && /"commit":/ { commit[FILENAME] = value("commit") }
function measured(file) { return date[file] " at commit " commit[file] }
FILENAME == ARGV[2] && /"threads"/ { processors = value("threads") }
FILENAME == ARGV[2] && /"gpu"/ { gpu = value("gpu"); sub(/:.*/, "", gpu); files = value("files") }
/"task":/ && value("task") != "memory" {
    task = value("task"); ms = value("wall_ms"); tool = value("tool")
    if (tool == "gpufilter") own[task] = ms
    else if (!(task in best) || ms + 0 < best[task] + 0) { best[task] = ms; name[task] = tool }
}
/"name":/ && /"ms":/ { run[value("name")] = value("ms") }
FILENAME == ARGV[3] && /"gpu"/ { kernels_gpu = value("gpu") }
function kernel_row(chain, own, ms, name) {
    if (own == "" || ms == "") return
    kernel[chain] = own
    if (!(chain in peer_ms) || ms + 0 < peer_ms[chain] + 0) { peer_ms[chain] = ms; peer[chain] = name }
}
/"chain":/ && /"format": "RGB8"/ && value("note") !~ /NPP/ && value("differs") == "" {
    kernel_row(value("chain"), value("ms"), value("peer_ms"), value("peer"))
    kernel_row(value("chain"), value("ms"), value("npp_ms"), "NPP")
}
END {
    tool_names["vips-parallel"] = "vips, a process a picture"; tool_names["opencv"] = "OpenCV"; tool_names["gm"] = "GraphicsMagick"
    print "| what | gpufilter | the fastest peer | times |\n| --- | --- | --- | --- |"
    split("copy=no filter,blur2=`blur=2`,blur2eq=`blur=2;equalize`,median3=`median`,half=`resize=50%`", jobs, ",")
    for (i = 1; i in jobs; i++) {
        task = jobs[i]; sub(/=.*/, "", task)
        text = substr(jobs[i], length(task) + 2); sub(/;/, ",", text)
        row("CPU: 24 megapixels, JPEG to JPEG, " text, own[task], best[task], name[task])
    }
    row("CPU: 24 megapixels, PNG to PNG, `blur=2`", own["png"], best["png"], name["png"])
    row("CPU: 64 JPEGs of 1920x1080, `blur=2,equalize`", own["batch"], best["batch"], name["batch"] in tool_names ? tool_names[name["batch"]] : name["batch"])
    n = split("blur=2 median=1 median=5 equalize rotate=90 resize=50%:50%:kernel=linear", chains, " ")
    for (i = 1; i <= n; i++)
        row("GPU: the kernels of `" chains[i] "`, 7680x4320", kernel[chains[i]], peer_ms[chains[i]], peer[chains[i]])
    printf "\nCPU: %s, %d threads, whole processes; vips, ImageMagick, GraphicsMagick and OpenCV were tried. GPU: %s,\n", cpu, threads, kernels_gpu
    print "beside " (ARGV[3] ~ /peers-[^\/]*$/ ? "CV-CUDA, cuCIM, kornia and NVIDIA\047s NPP" : "NVIDIA\047s NPP") ". The last column says how many times as long the peer takes. The CPU\047s were"
    print "measured on " measured(ARGV[1]) ", the GPU\047s on " measured(ARGV[3]) "."
    print "\nThe whole program with a GPU and without, on a machine with " processors " processors, the start included:\n"
    print "| what | CPU | GPU |\n| --- | --- | --- |"
    printf "| one JPEG of 1920x1080, `blur=2,equalize` | %s | %s |\n", shown(run["0.jpg blur=2,equalize cpu"]), shown(run["0.jpg blur=2,equalize cuda"])
    printf "| one JPEG of 7680x4320, `blur=2,equalize` | %s | %s |\n", shown(run["large.jpg blur=2,equalize cpu"]), shown(run["large.jpg blur=2,equalize cuda"])
    printf "| %d JPEGs of 1920x1080, `blur=2,equalize` | %s | %s |\n", files, shown(run["cpu"]), shown(run["cuda, codec=gpu"])
    printf "\nlibjpeg-turbo alone, without any filter, takes %s for the last row. Measured on %s.\n", shown(run["codecs alone"]), measured(ARGV[2])
}' "$(newest "$1/cpu")" "$(newest "$1/batch")" "${kernels:-$(newest "$1/gpu")}"
