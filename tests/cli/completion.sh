# The completion script for bash, called as readline calls it; it prints "LINE -> word word" for its offers.
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
offers 'gpufilter --max' '--max-bytes= --max-output= --max-pixels='
offers 'gpufilter --format=p' 'pam pfm png pnm'
offers 'gpufilter --subsampling 44' '444'
offers 'gpufilter --device=c' 'cpu cuda'
offers 'gpufilter --quality ' ''
offers 'gpufilter --profile=h' 'html:'
! has_study || offers 'gpufilter --profile=compare:h' 'html:'
offers 'gpufilter --profile=html:in.j' 'in.jpg'

begin "labs"
if has_study; then
    offers 'gpufilter --lab=off' 'offset'
    offers 'gpufilter --lab mat' 'matmul matmul-at'
else
    skip "the program was built without the study"
fi

begin "files"
offers 'gpufilter -i in.p' 'in.png in.ppm'
offers 'gpufilter -v --output=in.j' 'in.jpg'

begin "filters, parameters and their values inside a chain"
offers 'gpufilter -i a -o b equ' 'equalize'
offers 'gpufilter blur=2,equ' '2,equalize'
offers 'gpufilter blur=' 'border= feather= region= sigma= variant='
offers 'gpufilter blur=b' 'border='
offers 'gpufilter blur=sigma=2:border=re' 'reflect'
offers 'gpufilter equalize=mode=l' 'lightness luma'
offers 'gpufilter equalize=ch' 'channel'
offers "gpufilter 'blur=2:border=wrap,hf" 'blur=2:border=wrap,hflip'
offers 'gpufilter -- fl' 'flatten flip float flop'
offers 'gpufilter --help gam' 'gamma'
! has_study || offers 'gpufilter --help=stu' 'study'
! has_study || offers 'gpufilter --help=study gam' 'gamma'

# The scripts for the other shells, which run on a terminal: a line is typed and completed by one tab.
begin "zsh"
if ! zsh -fc 'zmodload zsh/zpty && zpty typed true' 2>/dev/null; then
    skip "no zsh or no pseudo-terminals here"
else
    gpufilter --completion=zsh >_gpufilter
    run 0 zsh -n _gpufilter
    cat >complete.zsh <<'END'
zmodload zsh/zpty
zpty typed zsh -f -i
# The completed line is read from the arguments of the program, which it calls.
zpty -w typed 'PS1= PROMPT_EOL_MARK= ; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste'
zpty -w typed 'gpufilter() { print -r -- "GOT<$*>" }; setopt no_beep; print READY'
zpty -r typed text '*READY*READY*'
zpty -n -w typed "$1"$'\t\n'
zpty -r typed text '*GOT<*>*'
text=${text##*GOT<}
print -r -- ${text%%>*}
zpty -d typed
END
    completes()
    {
        run 0 timeout 120 zsh -f complete.zsh "$1"
        [ "$(cat stdout)" = "$2" ] || problem "'$1' becomes '$(cat stdout)', not '$2'"
    }
    completes 'gpufilter --progressi' '--progressive'
    completes 'gpufilter --max-p' '--max-pixels' # enter takes the = away again
    completes 'gpufilter --format=jp' '--format=jpeg'
    completes 'gpufilter --device cu' '--device cuda'
    completes 'gpufilter -i in.pp' '-i in.ppm'
    completes 'gpufilter -i a -o b equ' '-i a -o b equalize'
    completes 'gpufilter blur=2,hfl' 'blur=2,hflip'
    completes 'gpufilter blur=si' 'blur=sigma='
    completes 'gpufilter blur=sigma=2:border=refl' 'blur=sigma=2:border=reflect'
    completes 'gpufilter equalize=chan' 'equalize=channel'
    completes 'gpufilter blur=2:variant=pad' 'blur=2:variant=padded'
    completes 'gpufilter --lab=off' '--lab=offset'
    completes 'gpufilter --help gam' '--help gamma'
    completes 'gpufilter --help=stu' '--help=study'
fi

begin "fish"
if ! command -v fish >/dev/null; then
    skip "no fish here"
else
    gpufilter --completion=fish >gpufilter.fish
    run 0 fish --no-execute gpufilter.fish
    suggests()
    {
        run 0 env HOME="$PWD" fish --no-config -c "source gpufilter.fish; complete -C '$1'"
        [ "$(cut -f 1 stdout | sort | tr '\n' ' ')" = "$2 " ] || problem "'$1' offers '$(cut -f 1 stdout)', not '$2'"
    }
    suggests 'gpufilter --progressi' '--progressive'
    suggests 'gpufilter --format=p' '--format=pam --format=png --format=pnm'
    suggests 'gpufilter --subsampling 44' '444'
    suggests 'gpufilter --lab=mat' '--lab=matmul --lab=matmul-at'
    suggests 'gpufilter --help=stu' '--help=study'
    suggests 'gpufilter -i in.p' 'in.png in.ppm'
    suggests 'gpufilter -i a -o b equ' 'equalize'
    suggests 'gpufilter blur=2,hfl' 'blur=2,hflip'
    suggests 'gpufilter blur=s' 'blur=sigma='
    suggests 'gpufilter blur=sigma=2:border=re' 'blur=sigma=2:border=reflect'
    suggests 'gpufilter equalize=ch' 'equalize=channel'
    suggests 'gpufilter blur=2:variant=pa' 'blur=2:variant=padded'
fi
