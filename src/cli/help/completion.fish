# What may stand for the end of the chain under the cursor, with what is before it.
function _gpufilter_chain
    set -l token (commandline -ct)
    set -l item (string replace -r '.*,' '' -- $token)
    set -l head (string sub -l (math (string length -- "$token") - (string length -- "$item")) -- "$token")
    if not string match -q '*=*' -- $item
        printf '%s\n' $head(string split ' ' -- $_gpufilter_filters)
        return
    end
    set -l name (string replace -r '=.*' '' -- $item)
    set -l given (string replace -r '^[^=]*=' '' -- $item)
    set -l piece (string replace -r '.*:' '' -- $given)
    set head $head(string sub -l (math (string length -- "$item") - (string length -- "$piece")) -- "$item")
    set -l position (count (string split : -- $given))
    set -l place 0
    _gpufilter_params $name | while read -l line
        set -l parameter (string split ' ' -- $line)
        set place (math $place + 1)
        if string match -q '*=*' -- $piece
            test $parameter[1] = (string replace -r '=.*' '' -- $piece); or continue
            printf '%s\n' $head$parameter[1]=$parameter[2..-1]
        else
            printf '%s\n' $head$parameter[1]=
            if test $place = $position; and not string match -q '*=*' -- $given
                printf '%s\n' $head$parameter[2..-1]
            end
        end
    end
end
complete -c gpufilter -f -a '(_gpufilter_chain)'
