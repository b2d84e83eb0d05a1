# The pictures within files beside the main one: their numbers, their kinds.

# numbers BYTES NUMBER...: big-endian numbers of that many bytes.
numbers()
{
    bytes=$1
    shift
    for number in "$@"; do
        for place in $(seq $((bytes - 1)) -1 0); do
            # shellcheck disable=SC2059
            printf "\\$(printf %03o $((number >> 8 * place & 255)))"
        done
    done
}

# two_pictures MAIN SECOND ATTRIBUTES: both JPEGs in one file, whose index (MPF) gives the second these attributes.
two_pictures()
{
    main=$(wc -c <"$1") second=$(wc -c <"$2") index=66 header=10
    head -c 2 "$1"
    numbers 2 0xffe2 64
    printf 'MPF\0MM\0*'
    numbers 4 8
    numbers 2 1 0xb002 7
    numbers 4 32 26 0
    numbers 4 0x20030000 $((main + index)) 0 0
    numbers 4 "$3" "$second" $((main + index - header)) 0
    tail -c +3 "$1"
    cat "$2"
}

begin "FILE[1] is a JPEG's second picture, and FILE[disparity] the first of that kind"
run 0 gpufilter -i in.png -o second.jpg hflip,crop=40x30+2+1
two_pictures in.jpg second.jpg 0x20002 >two.mpo
run 0 gpufilter -i second.jpg -o wanted.ppm
for wish in 1 disparity; do
    run 0 gpufilter -q -i "two.mpo[$wish]" -o "$wish.ppm"
    same "$wish.ppm" wanted.ppm
    run 0 gpufilter -q -i "two.mpo[$wish]" --format=pnm -o -
    same stdout wanted.ppm
done
run 0 gpufilter -q -i in.jpg -o wanted.ppm
for wish in '' '[0]' '[main]'; do
    run 0 gpufilter -q -i "two.mpo$wish" -o main.ppm
    same main.ppm wanted.ppm
done

begin "a decoder in a cell reads the same"
if ! gpufilter --version | grep -q '^cells for decoders: '; then
    skip "there are no cells here: $(gpufilter --version | grep 'without cells')"
else
    run 0 gpufilter -q -i second.jpg -o wanted.ppm
    run 0 gpufilter -q --sandbox=all -i 'two.mpo[1]' -o cell.ppm
    same cell.ppm wanted.ppm
fi

begin "--info tells how many pictures a JPEG has, and their kinds"
run 0 gpufilter --info two.mpo
stdout_has '^pages  *2$'
stdout_has '^pictures  *main, disparity$'
run 0 gpufilter --info=json 'two.mpo[1]'
stdout_has '"pages":1,"width":40,.*"pictures":null'

begin "a number or a kind that a JPEG does not have is an error of one line"
run 4 gpufilter -i 'two.mpo[2]' -o no.ppm
stderr_is 'gpufilter: two.mpo[2]: holds 2 pictures, counted from 0'
run 4 gpufilter -i 'two.mpo[depth]' -o no.ppm
stderr_is 'gpufilter: two.mpo[depth]: holds no picture of the kind "depth"'
run 4 gpufilter -i 'in.jpg[1]' -o no.ppm
stderr_is 'gpufilter: in.jpg[1]: holds 1 picture, counted from 0'
head -c -5 two.mpo >short.mpo
run 4 gpufilter -i 'short.mpo[1]' -o no.ppm
stderr_is "gpufilter: short.mpo[1]: damaged: the picture is not where the file's index says"
absent no.ppm

begin "a file whose name ends in brackets comes first"
cp in.png 'two.mpo[1]'
run 0 gpufilter -q -i 'two.mpo[1]' -o first.ppm
run 0 gpufilter -q -i in.png -o wanted.ppm
same first.ppm wanted.ppm
rm 'two.mpo[1]'
