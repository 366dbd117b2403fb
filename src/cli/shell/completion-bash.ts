/**
 * Completion script for bash 3.2 and later; needs no other package and may be sourced twice. The typed words are passed on
 * as arguments and never evaluated: a TAB must not execute the line.
 */
export const bashCompletion = `# bash completion for svc
__svc_complete() {
    local rest="\${COMP_LINE:0:COMP_POINT}" word trimmed line typed last character directive=0 i
    local words=() values=()
    # Bash parts words at : = and @ as well; what no space parts is one word.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        trimmed="\${rest#"\${rest%%[![:space:]]*}"}"
        word="\${COMP_WORDS[i]}"
        ((i == COMP_CWORD)) && word="$trimmed"
        if ((i > 0)) && [[ -n "$rest" && "$trimmed" == "$rest" ]]; then
            words[\${#words[@]} - 1]+="$word"
        else
            words+=("$word")
        fi
        rest="\${trimmed#"$word"}"
    done
    typed="\${words[\${#words[@]} - 1]}"

    while IFS= read -r line; do
        case "$line" in
            :[0-9]*) directive="\${line#:}" ;;
            ?*) values+=("\${line%%$'\\t'*}") ;;
        esac
    done < <(svc complete -- "\${words[@]:1}" 2>/dev/null)

    # Bash replaces only what follows the last of the characters at which it parts words.
    last="$typed"
    for character in : = @; do
        [[ "$COMP_WORDBREAKS" == *"$character"* ]] && last="\${last##*"$character"}"
    done
    COMPREPLY=()
    if ((\${#values[@]} > 0)); then
        for line in "\${values[@]}"; do COMPREPLY+=("\${line#"\${typed%"$last"}"}"); done
    elif ((directive == 0)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$last")
    fi
}
complete -F __svc_complete svc`
