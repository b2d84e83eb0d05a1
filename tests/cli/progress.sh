# shellcheck shell=sh
# The progress of a batch, on standard error: in the form that --progress names, or that fits a terminal.
mkdir many
for each in 1 2 3 4 5 6 7 8; do cp in.ppm "many/$each.ppm"; done
echo junk >many/9.png

begin "a batch that is done says so in one line, unless --quiet"
run 0 gpufilter -i 'many/*.ppm' -o out invert
stderr_like '8 files done in [0-9.]* s: 0.0 Mpixel, [0-9.]* pictures/s, bound by [a-z]*$'
run 0 gpufilter -i 'many/*.ppm' -o out --skip-existing invert
stderr_like '0 files done, 8 skipped, in '
run 0 gpufilter -i 'many/*.ppm' -o out --quiet invert
silent
run 0 gpufilter -i in.ppm -o one.ppm invert
silent
run 4 gpufilter -i many -o out --progress=none invert
[ "$(tail -n 1 stderr)" = 'gpufilter: 1 of 9 files failed, 8 done' ] || problem "$(cat stderr)"
[ "$(wc -l <stderr)" -eq 2 ] || problem "$(cat stderr)"
[ ! -s stdout ] || problem "stdout is not empty"

begin "--progress=json: a line now and then and one at the end, never on standard output"
if ! command -v python3 >/dev/null; then
    skip "no python3 here"
else
    run 4 gpufilter -i many -o out --progress=json invert
    [ ! -s stdout ] || problem "stdout is not empty"
    mv stderr lines
    run 0 python3 - lines <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
last = lines[-1]
assert last["at_end"] and not any(line["at_end"] for line in lines[:-1])
assert (last["files"], last["done"], last["failed"], last["skipped"], last["pictures"]) == (9, 8, 1, 0, 8), last
assert abs(last["megapixels"] - 8 * 77 * 55 / 1e6) < 1e-3 and last["eta_s"] == 0
assert last["bound_by"] in ("decode", "filter", "encode") and last["pictures_per_s"] > 0 and last["elapsed_s"] > 0
END
    run 0 gpufilter -i in.ppm -o one.ppm --progress=json invert
    grep -q '"files":1,"done":1' stderr || problem "of one picture: $(cat stderr)"
    run 4 gpufilter -i many -o out --progress=json --quiet invert
    [ "$(grep -c '^{' stderr)" -eq 0 ] || problem "--quiet: $(cat stderr)"
fi

begin "a bar on a terminal, coloured but where NO_COLOR is"
if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    skip "no python3 or no pseudo-terminals here"
else
    cat >terminal.py <<'END'
import os, pty, sys, threading, time
def run(*arguments, **environment):
    output = bytearray()
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update({"TERM": "xterm", **environment})
        os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execv(os.environ["GPUFILTER"], ("gpufilter",) + arguments)
    while True:
        try:
            output += os.read(terminal, 4096)
        except OSError:
            break
    os.waitpid(pid, 0)
    return output.decode()
files = ["-i", "many", "-o", "out"]
chain = "resize=%s,bilateral=2" % ("600:450" if "GF_TEST_SMALL" in os.environ else "1200:900")
text = run(*files, "--fail-fast", "--threads=1", "-i", "in.ppm", chain)
assert "\r\033[32m[" in text and "-]\033[0m" in text and "\033[K" in text, text
assert "/10 " in text and "left" in text, text
assert "gpufilter: many/9.png: not a picture of a known format" in text.replace("\r\033[K", "\n"), text
assert "\033[32m" not in run(*files, chain, NO_COLOR="1")
text = run(*files, "invert", TERM="dumb")
assert "8 done" in text and "\033" not in text, text
assert run("-i", "in.ppm", "-o", "one.ppm", "invert") == ""
def feed():
    with open("feed", "wb") as pipe:
        picture = open("in.ppm", "rb").read()
        pipe.write(picture[:9000])
        pipe.flush()
        time.sleep(4)
        pipe.write(picture[9000:])
os.mkfifo("feed")
threading.Thread(target=feed).start()
text = run("-i", "feed", "-o", "one.dzi", "--device=cpu", "invert")
assert text.startswith("\r\033[32m[") and "%" in text and text.endswith("\r\033[K"), text
assert "/8 tiles left" in text, text
assert os.path.getsize("stdout") == 0
END
    run 0 timeout 600 python3 terminal.py
fi
