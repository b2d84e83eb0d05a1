# The completion script, in a bash that believes to complete a line: "LINE -> word word" is what it offers.
begin "the script is bash"
if ! command -v bash >/dev/null; then
    skip "no bash here"
    return 0
fi
run 0 gpufilter --completion=bash
silent
mv stdout completion.bash
run 0 bash -n completion.bash

cat >complete.bash <<'END'
. ./completion.bash
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_gpufilter
printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
END

offers()
{
    run 0 bash --norc complete.bash "$1"
    silent
    [ "$(cat stdout)" = "$2 " ] || problem "'$1' offers '$(cat stdout)', not '$2'"
}

begin "options and their choices"
offers 'gpufilter --progressi' '--progressive'
offers 'gpufilter --max' '--max-pixels='
offers 'gpufilter --format=p' 'pam png pnm'
offers 'gpufilter --subsampling 44' '444'
offers 'gpufilter --device=c' 'cpu cuda'
offers 'gpufilter --quality ' ''

begin "files"
offers 'gpufilter -i in.p' 'in.png in.ppm'
offers 'gpufilter -v --output=in.j' 'in.jpg'

begin "filters, parameters and their values inside a chain"
offers 'gpufilter -i a -o b equ' 'equalize'
offers 'gpufilter blur=2,equ' '2,equalize'
offers 'gpufilter blur=' 'border= sigma= variant='
offers 'gpufilter blur=b' 'border='
offers 'gpufilter blur=sigma=2:border=re' 'reflect'
offers 'gpufilter equalize=mode=l' 'lightness luma'
offers 'gpufilter equalize=ch' 'channel'
offers "gpufilter 'blur=2:border=wrap,hf" 'blur=2:border=wrap,hflip'
offers 'gpufilter -- fl' 'flip flop'
offers 'gpufilter --help gam' 'gamma'
