# The word under the cursor without its quotes, and the one before. Readline leaves the first
# `kept` letters: it replaces what follows an open quote, or its last word break outside quotes.
_gpufilter_read_line()
{
    local line=${COMP_LINE:0:COMP_POINT} c i inside= opened=
    current= previous= quote= ended= kept=0
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote ]]; then
            if [[ $c == "$quote" ]]; then quote=; else current+=$c; fi
            continue
        fi
        case $c in
        [[:space:]])
            [[ $inside ]] || continue
            [[ $current == -- ]] && ended=1
            previous=$current current= inside= kept=0 ;;
        \'|\") quote=$c inside=1 opened=${#current} ;;
        \\) i=$((i + 1)) current+=${line:i:1} inside=1 ;;
        *)
            current+=$c inside=1
            [[ $c == [=:] && $COMP_WORDBREAKS == *$c* ]] && kept=${#current} ;;
        esac
    done
    [[ $quote ]] && kept=$opened
}

# Splits the chain in current into head and stem; offers are what may stand for the stem.
_gpufilter_chain()
{
    local item=${current##*,} name given piece order
    head=${current%"$item"} stem=$item
    kind=words offers=$_gpufilter_filters space=
    [[ $item == *=* ]] || return
    name=${item%%=*} given=${item#*=} piece=${item#*=}
    piece=${piece##*:}
    head+=${item%"$piece"} stem=$piece
    if [[ $piece == *=* ]]; then
        head+=${piece%%=*}= stem=${piece#*=}
        _gpufilter_values "$name.${piece%%=*}"
        return
    fi
    local by_name by_position=
    _gpufilter_params "$name"
    by_name=($offers)
    if [[ $given != *=* ]]; then
        order=${given//[^:]/}
        _gpufilter_values "$name.${by_name[${#order}]}"
        by_position=$offers
    fi
    offers="$by_position ${by_name[*]/%/=}"
}

_gpufilter()
{
    local current previous quote ended kept head= stem kind offers space=1 IFS=$' \t\n'
    _gpufilter_read_line
    stem=$current
    if [[ ! $ended && ($_gpufilter_separate == *" $previous "* ||
          ($_gpufilter_optional == *" $previous "* && $current != -*)) ]]; then
        _gpufilter_option "$previous"
    elif [[ ! $ended && $current == --*=* ]]; then
        head=${current%%=*}= stem=${current#*=}
        _gpufilter_option "${current%%=*}"
        # A choice that takes the name of a file
        [[ $offers == *html:* && $stem == *html:* ]] &&
            kind=file head+=${stem%%html:*}html: stem=${stem#*html:}
    elif [[ ! $ended && $current == -* ]]; then
        kind=words offers=$_gpufilter_options
    else
        _gpufilter_chain
    fi
    local found=() match i
    case $kind in
    file)
        mapfile -t found < <(compgen -f -- "$stem")
        compopt -o filenames 2>/dev/null ;;
    words)
        mapfile -t found < <(compgen -W "$offers" -- "$stem") ;;
    esac
    [[ ! $space || (${#found[@]} -eq 1 && ${found[0]} == *[=:]) ]] &&
        compopt -o nospace 2>/dev/null
    COMPREPLY=()
    for i in "${!found[@]}"; do
        match=$head${found[i]}
        match=${match:kept}
        # Quotes that were closed within what is replaced are gone (readline restores a file's).
        [[ ! $quote && $kind == words && $match == *[!a-zA-Z0-9_=:,./%+-]* ]] &&
            printf -v match %q "$match"
        COMPREPLY+=("$match")
    done
}
complete -F _gpufilter gpufilter
