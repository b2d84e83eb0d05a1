# Text: how it is written in a chain, files of it, and what is refused. in.ppm is 77x55.
if gpufilter --version | grep -q '^text: FreeType'; then
    begin "text keeps commas, colons and lines"
    run 0 gpufilter -i in.ppm -o quoted.ppm "text='a, b:\nc \\\\d':size=10"
    printf 'a, b:\nc \\d\n' >words.txt
    run 0 gpufilter -i in.ppm -o file.ppm text=file=words.txt:size=10
    cmp -s quoted.ppm file.ppm || problem "a quoted text differs from the same in a file"
    run 0 gpufilter -i in.ppm -o escaped.ppm 'text=a\, b\:\\nc \\\\d:size=10'
    cmp -s quoted.ppm escaped.ppm || problem "an escaped text differs from a quoted one"
    printf '\357\273\277a, b:\r\nc \\d\r\n' >words.txt
    run 0 gpufilter -i in.ppm -o file.ppm text=file=words.txt:size=10
    cmp -s quoted.ppm file.ppm || problem "a byte order mark or carriage returns show"

    begin "a time, a number or an address needs no quotes, and other texts are answered by the quoted form"
    for text in 12:30 12:30:45 https://x.org 10,000 'at 7:15' 'no {n:3}'; do
        run 0 gpufilter -i in.ppm -o plain.ppm "text=$text:size=10"
        run 0 gpufilter -i in.ppm -o quoted.ppm "text='$text':size=10"
        cmp -s plain.ppm quoted.ppm || problem "$text"
    done
    run 2 gpufilter -i in.ppm -o out.png 'text=Paris, France:size=10'
    stderr_is "gpufilter: unknown filter 'France' (--list shows them); a text with a comma is quoted: \"text='Paris, France'\""
    run 2 gpufilter -i in.ppm -o out.png 'text=12:30, blurr'
    stderr_is "gpufilter: unknown filter 'blurr'; did you mean 'blur'? Else a text with a comma is quoted: \"text='12:30, blurr'\""

    run 3 gpufilter -i in.ppm -o out.png text=16:9
    stderr_like "text: 9: there is .*; a text with a colon is quoted: \"text='16:9'\"$"
    run 3 gpufilter -i in.ppm -o out.png 'text=Note: see:size=3'
    stderr_like "text: see: there is .*; a text with a colon is quoted: \"text='Note: see'\"$"

    begin "a batch shares a text, and bands do not show"
    mkdir pictures
    for i in 1 2 3; do cp in.ppm pictures/$i.ppm; done
    run 0 gpufilter -i pictures -o made blur,text=Ag:size=30:outline=2:opacity=0.5
    run 0 gpufilter -i in.ppm -o bands.ppm --band-rows=7 blur,text=Ag:size=30:outline=2:opacity=0.5
    for i in 1 2 3; do cmp -s made/$i.ppm bands.ppm || problem "$i.ppm"; done

    begin "fields=yes replaces fields by what they are for each picture"
    mkdir shots
    camera_jpeg in.jpg >shots/a.b.jpg
    cp in.jpg shots/plain.jpg
    run 0 gpufilter -i shots -o 'shown/{stem}.ppm' --strip "text='{n:3} {stem} {name}.{ext}\n{w}x{h} {{x}}':fields=yes:size=10"
    ! grep warning stderr >problems || problem "$(cat problems)"
    run 0 gpufilter -i shots/a.b.jpg -o 1.ppm "text='001 a.b a.b.jpg.jpg\n77x55 {x}':size=10"
    run 0 gpufilter -i shots/plain.jpg -o 2.ppm "text='002 plain plain.jpg.jpg\n77x55 {x}':size=10"
    cmp -s shown/a.b.ppm 1.ppm || problem "the first picture"
    cmp -s shown/plain.ppm 2.ppm || problem "the second picture"
    run 0 gpufilter -i shots/a.b.jpg -o 1.ppm --strip 'text={camera} {lens} {date} {time}:size=5:fields=yes'
    silent
    run 0 gpufilter -i shots/a.b.jpg -o 2.ppm 'text=Canon EOS R5 RF24-70mm 2024-05-01 12:30:size=5'
    cmp -s 1.ppm 2.ppm || problem "the facts of EXIF"
    run 0 gpufilter -i - -o 1.ppm 'text={stem} {n}:fields=yes' <in.ppm
    run 0 gpufilter -i in.ppm -o 2.ppm 'text=stdin 1'
    cmp -s 1.ppm 2.ppm || problem "standard input"
    run 0 gpufilter -i shots/plain.jpg -o 1.ppm 'trim,resize=50%,text={stem} {w}:fields=yes:size=20%' -o 2.ppm 'text={stem}:fields=yes'
    ! grep warning stderr >problems || problem "$(cat problems)"
    run 0 gpufilter -i shots/plain.jpg -o 3.ppm 'trim,resize=50%,text=plain 39:size=20%'
    run 0 gpufilter -i shots/plain.jpg -o 4.ppm 'text=plain'
    cmp -s 1.ppm 3.ppm || problem "the size after other filters"
    cmp -s 2.ppm 4.ppm || problem "the second output"

    begin "braces stay without fields=yes, and what is not known is warned of once"
    run 0 gpufilter -i in.ppm -o 1.ppm 'text={stem}'
    stderr_is 'gpufilter: warning: text: its braces are drawn as they stand; fields=yes replaces {stem} and the like'
    run 0 gpufilter -i in.ppm -o 2.ppm 'text={{stem}}:fields=yes'
    silent
    cmp -s 1.ppm 2.ppm || problem "doubled braces"
    run 0 gpufilter -i in.ppm -o 2.ppm 'text={a b} {':size=8
    silent
    cp shots/plain.jpg shots/c.jpg
    run 0 gpufilter -i shots -o dated/ --strip 'text=on {date}:fields=yes'
    [ "$(grep -c warning stderr)" -eq 1 ] || problem "$(cat stderr)"
    grep -q 'warning: shots/[cp][a-z]*.jpg: text: {date} is not known, and left empty, also in further pictures$' stderr || problem "$(cat stderr)"
    run 2 gpufilter -i in.ppm -o out.png 'text={stm}:fields=yes'
    stderr_is "gpufilter: text: '{stm}' is none of {stem}, {name}, {ext}, {n}, {date}, {time}, {camera}, {lens}, {w}, {h}; a brace itself is {{"
    absent out.png
    newline=$(printf 'a\nb')
    cp in.ppm "$newline.ppm"
    run 0 gpufilter -i "$newline.ppm" -o 1.ppm 'text={stem}:fields=yes'
    run 0 gpufilter -i in.ppm -o 2.ppm 'text=a?b'
    cmp -s 1.ppm 2.ppm || problem "a line end in a name"

    begin "a text beyond ASCII, and a font by its name, need a font of this machine"
    printf '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig></fontconfig>\n' >none.conf
    if gpufilter --version | grep -q '^text: .*fontconfig'; then
        FONTCONFIG_FILE=$PWD/none.conf run 3 gpufilter -i in.ppm -o out.png text=à
        stderr_is 'gpufilter: text: letters beyond ASCII need a font, and this machine has none (apt-get install fonts-dejavu-core); or font= names a file'
        FONTCONFIG_FILE=$PWD/none.conf run 3 gpufilter -i in.ppm -o out.png 'text=a:font=Nobody Sans'
        stderr_is 'gpufilter: text: Nobody Sans: there is neither a file nor a font of that name (fc-list lists fonts)'
        absent out.png
        FONTCONFIG_FILE=$PWD/none.conf run 0 gpufilter -i in.ppm -o plain.ppm text=a
        run 0 gpufilter -i in.ppm -o same.ppm text=a
        cmp -s plain.ppm same.ppm || problem "ASCII depends on the machine"
    else
        run 3 gpufilter -i in.ppm -o out.png 'text=a:font=Nobody Sans'
        stderr_like 'text: Nobody Sans: there is no file of that name, and .*fontconfig'
    fi

    begin "fonts of this machine are found by name, and complete each other"
    font=$(fc-match -f '%{file}' 'DejaVu Sans:style=Book' 2>&-)
    serif=$(fc-match -f '%{file}' 'DejaVu Serif:style=Book' 2>&-)
    case $(gpufilter --version):$font:$serif in
    *'
text: '*fontconfig*:*/DejaVuSans.ttf:*/DejaVuSerif.ttf)
        run 0 gpufilter -i in.ppm -o file.ppm "text=Aж→:$font:20"
        chain=invert
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
            chain="$chain,text=a:font='DejaVu Sans:size=$i'"
        done
        run 0 gpufilter -i in.ppm -o many.ppm "$chain"
        for chain in text=Aж→:size=20 'text=Aж→:DejaVu Sans:20' 'text=Aж→:font=dejavu sans:size=20'; do
            run 0 gpufilter -i in.ppm -o name.ppm "$chain"
            silent
            cmp -s file.ppm name.ppm || problem "$chain"
        done
        run 0 gpufilter -v -i in.ppm -o name.ppm 'text=ж'
        grep -q "^gpufilter: text: in a font of this machine: $font$" stderr || problem "$(cat stderr)"
        run 2 gpufilter -i in.ppm -o out.png "text=aس:$serif"
        stderr_is "gpufilter: text: $serif: the font has no glyph for U+0633"
        run 0 gpufilter -i in.ppm -o name.ppm 'text=aس:DejaVu Serif:20'
        run 0 gpufilter -i in.ppm -o file.ppm "text=a:$serif:20"
        ! cmp -s file.ppm name.ppm || problem "the letter of another font is missing"
        ;;
    *) skip "DejaVu or fontconfig is missing" ;;
    esac

    begin "shadows, turned texts, and the words of other programs"
    run 0 gpufilter -i in.ppm -o 1.ppm text=Ag:size=20:colour=red:angle=30:background=blue
    run 0 gpufilter -i in.ppm -o 2.ppm text=Ag:fontsize=20:fontcolor=red:rotate=30:boxcolor=blue
    cmp -s 1.ppm 2.ppm || problem "the words of other programs"
    run 0 gpufilter -i in.ppm -o 1.ppm text=Ag:size=20:shadow=black:soft=0:distance=3
    run 0 gpufilter -i in.ppm -o 2.ppm text=Ag:size=20:colour=black:x=3:y=3,text=Ag:size=20
    cmp -s 1.ppm 2.ppm || problem "a hard shadow is not the text in black"

    begin "text names what is wrong"
    printf 'a\0b' >nul.txt
    printf '\376\377\0a' >wide.txt
    head -c 70000 /dev/zero | tr '\0' x >long.txt
    while IFS='|' read -r chain message; do
        case $message in *'No such file'*) status=75 ;; *) status=2 ;; esac
        run $status gpufilter -i in.ppm -o out.png "$chain"
        stderr_is "gpufilter: text: $message"
        absent out.png
    done <<'END'
text=a:in.ppm|in.ppm: it is not a font that FreeType reads (error 0x02); a text with a colon is quoted: "text='a:in.ppm'"
text=text=a: b|'b' comes after a named parameter, so it needs its name; a text with a colon is quoted: "text='a: b'"
text=a:none.ttf|none.ttf: No such file or directory
text=file=none.txt|none.txt: No such file or directory
text=file=nul.txt|nul.txt: it holds NUL bytes, which no text does
text=file=wide.txt|wide.txt: it is UTF-16; only UTF-8 is read
text=file=long.txt|long.txt: it is larger than 64 KiB
text=a:file=words.txt|the text is given twice, by text and by file
text=a:size=0|size=0 is outside 1..2000 (size of the letters (of an em), in pixels)
END
else
    begin "text names the library that is missing"
    run 3 gpufilter -i in.ppm -o out.png text=a
    stderr_is 'gpufilter: text: this build draws no text: it was made without FreeType and HarfBuzz (libfreetype-dev, libharfbuzz-dev)'
    absent out.png
fi
