# GIFs, stills and animations, and what gifsicle makes of the same pixels.

if ! gpufilter --version | grep -q '^formats:.*GIF'; then
    begin "GIF is written"
    skip "no GIF in this build"
    return
fi

# A red frame for 7 hundredths of a second, then a blue one for 30, three times.
{
    printf 'GIF89a\001\000\001\000\360\000\000\377\000\000\000\000\377!\377\013NETSCAPE2.0\003\001\002\000\000'
    printf '!\371\004\004\007\000\000\000,\000\000\000\000\001\000\001\000\000\002\002D\001\000'
    printf '!\371\004\004\036\000\000\000,\000\000\000\000\001\000\001\000\000\002\002L\001\000;'
} >two.gif

begin "a GIF stays one, with its frames"
mkdir folder
run 0 gpufilter -i two.gif -o folder/ resize=4:2:fit=fill
silent
[ "$(ls folder)" = two.gif ] || problem "the output is called $(ls folder)"
for frame in 0:25500 1:00255; do
    run 0 gpufilter -i "folder/two.gif[${frame%:*}]" -o dot.ppm crop=1:1
    [ "$(tail -c 3 dot.ppm | od -An -tu1 | tr -d ' ')" = "${frame#*:}" ] || problem "frame ${frame%:*}: $(tail -c 3 dot.ppm | od -An -tu1)"
done
run 0 gpufilter -i two.gif -o -
head -c 3 stdout | grep -q GIF || problem "standard output is no GIF"
same stdout two.gif
run 0 gpufilter -i two.gif -o one.png
stderr_like 'warning: two.gif: holds 2 pictures: the first is taken'

begin "a photograph becomes a GIF with a warning, and with --png-palette without"
run 0 gpufilter -i in.png -o photo.gif 'resize=120:90'
stderr_like 'warning: photo.gif: a GIF does not keep more than 256 colours in a frame$'
run 0 gpufilter -i in.png -o photo.gif --png-palette=16 'resize=120:90'
silent
run 4 gpufilter -i in.png -o no.gif --lossless
stderr_like 'no.gif: a GIF is not lossless for more than 256 colours in a frame$'
[ ! -e no.gif ] || problem "there is an output"
run 0 gpufilter -i in.png -o photo.gif --quality=50 --png-palette=16
stderr_like 'warning: --quality changes nothing in this GIF$'

if ! command -v gifsicle >/dev/null; then
    begin "sizes beside gifsicle -O2"
    skip "gifsicle is not here"
    return
fi

# no_larger NAME: our result of NAME.gif without filters, and with a blur, is no larger than what gifsicle makes of the same frames
no_larger()
{
    run 0 gpufilter -q -i "$1.gif" -o "$1-own.gif"
    gifsicle --no-warnings -O2 "$1.gif" -o "$1-peer.gif"
    run 0 gpufilter -q -i "$1.gif" -o "$1-blurred.gif" blur=1
    gifsicle --no-warnings -O2 "$1-blurred.gif" -o "$1-blurred-peer.gif"
    for kind in own peer; do
        gifsicle --no-warnings --unoptimize "$1-$kind.gif" | gifsicle --no-warnings --explode -o "$1-$kind-frame"
    done
    for frame in "$1"-own-frame.*; do
        run 0 gpufilter -q -i "$frame" -o own.pam
        run 0 gpufilter -q -i "$1-peer-frame.${frame##*.}" -o peer.pam
        same own.pam peer.pam
    done
    for pair in own:peer blurred:blurred-peer; do
        own=$(wc -c <"$1-${pair%:*}.gif") peer=$(wc -c <"$1-${pair#*:}.gif")
        [ "$own" -le "$peer" ] || problem "$1-${pair%:*}.gif has $own bytes, gifsicle's $peer"
    done
}

# join NAME: the frames NAME0.gif, NAME1.gif, ... become NAME.gif
join()
{
    gifsicle --no-warnings --delay=5 --loop --disposal=background "$1"?.gif -o "$1.gif"
}

begin "a moving photograph has no more bytes than by gifsicle -O2"
for at in 0 1 2 3 4 5; do
    run 0 gpufilter -q -i in.png -o "photo$at.gif" "resize=200:143,crop=120:90:x=$((at * 7)):y=5:gravity=northwest"
done
join photo
no_larger photo

begin "a picture that moves on one colour, likewise"
run 0 gpufilter -q -i in.png -o few.png posterize=4
for at in 0 1 2 3 4 5 6 7 8 9; do
    run 0 gpufilter -q -i in.png -o "logo$at.gif" "crop=1:1,pad=160:100:colour=navy,overlay=few.png:northwest:x=$((at * 8)):y=$((at * 3))"
done
join logo
no_larger logo

begin "one that moves and turns on transparency, likewise"
for at in 0 1 2 3 4 5 6 7 8 9; do
    run 0 gpufilter -q -i in.png -o "spinner$at.gif" "grayscale,pad=110:110:colour=transparent,rotate=$((at * 36)):background=transparent,resize=64:64:fit=fill"
done
join spinner
no_larger spinner

begin "lines of text that scroll, likewise"
lines='' number=0
while [ $number -lt 10 ]; do
    lines="$lines\\nline $number: $((number * number * 31)) words"
    run 0 gpufilter -q -i in.png -o "text$number.gif" "crop=1:1,pad=200:120:colour=black,text='$lines':size=14:gravity=southwest:x=4:y=4"
    number=$((number + 1))
done
join text
no_larger text
