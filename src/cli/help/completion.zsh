# The chain under the cursor: filters, their parameters, what those take.
_gpufilter_chain()
{
    local offers= name given last
    local -a names
    compset -P '*,'
    if [[ $PREFIX != *=* ]]; then
        compadd -S '' -- ${=_gpufilter_filters}
        return
    fi
    name=${PREFIX%%=*} given=${PREFIX#*=} last=${PREFIX##*[=:]}
    if [[ ${given##*:} == *=* ]]; then
        _gpufilter_values $name.${${given##*:}%%=*}
        compset -P '*[=:]'
        compadd -S '' -- ${=offers}
        return
    fi
    _gpufilter_params $name
    names=(${=offers})
    offers=
    if [[ $given != *=* ]]; then
        _gpufilter_values $name.${names[${#${given//[^:]/}}+1]}
    fi
    compset -P '*[=:]'
    compadd -S '' -- ${=offers}
    compadd -S = -- $names
}

_gpufilter()
{
    _arguments -s -S : \
