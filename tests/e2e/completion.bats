#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis completion: what real shells offer with the scripts that it prints.
# shellcheck disable=SC2030,SC2031,SC2154,SC2016 # bats and common.bash set them; inner shells expand
load common

# in_bash WORD…: what bash offers for the last word. "=" is a word of its own, as in bash.
in_bash() {
    run bash -c 'source <("$0" completion bash); COMP_WORDS=(tmesis "$@") COMP_CWORD=$#
        _tmesis tmesis "${COMP_WORDS[COMP_CWORD]}"; printf "%s\n" "${COMPREPLY[@]}"' "$tmesis" "$@"
    echo "$* → $output"
}

# in_fish LINE: what fish offers, without descriptions.
in_fish() {
    run fish --no-config -c 'eval $argv[1] completion fish | source
        complete -C $argv[2]' "$tmesis" "$1"
    output=$(cut -f 1 <<<"$output")
    echo "$1 → $output"
}

# in_zsh LINE: what the line becomes in an interactive zsh when the tabulator is pressed.
in_zsh() {
    "$tmesis" completion zsh >_tmesis
    cat >drive.zsh <<'END'
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "unsetopt zle_bracketed_paste 2>/dev/null; PS1=; fpath=($PWD \$fpath); autoload -Uz compinit"
zpty -w shell "compinit -D -u; show() { print -r -- \"LINE<\$BUFFER>\"; }; zle -N show; bindkey '^X' show"
zpty -w shell 'print rea""dy'
zpty -r -m shell said '*ready*' || exit 1
zpty -w -n shell "$1"$'\t\x18'
zpty -r -m shell said '*LINE<*>*' || exit 1
print -r -- ${${said##*LINE<}%%>*}
zpty -d shell
END
    run timeout 60 zsh -f drive.zsh "$1"
    echo "$1 → $output"
}

@test "bash completes commands, options, values and programs" {
    in_bash ru
    [ "$output" = run ]
    in_bash run --pe
    [ "$output" = $'--perturb\n--perturb=' ]
    in_bash run --color =
    [ "$output" = $'auto\nalways\nnever' ]
    in_bash run --color = al
    [ "$output" = always ]
    in_bash run --fail-on warn
    [ "$output" = warning ]
    in_bash run --fail-on = warning,pred
    [ "$output" = warning,predicted ]
    in_bash run --perturb ./program --pe
    [ -z "$output" ]
    in_bash run --json out.json --pe
    [ "$output" = $'--perturb\n--perturb=' ]
    in_bash run --json out.json ./program --pe
    [ -z "$output" ]
    in_bash cc --tmesis-v
    [ "$output" = --tmesis-verbose ]
    in_bash completion z
    [ "$output" = zsh ]
    in_bash history --store = a.db pr
    [ "$output" = prune ]
    in_bash history import pr
    [ -z "$output" ]
    in_bash run bas
    grep -qx bash <<<"$output"
}

@test "bash is offered every option of every command" {
    for command in $("$tmesis" --help | awk '/^Help/ {exit} /^  / {print $1}'); do
        in_bash "$command" -
        diff <("$tmesis" "$command" --help=all | grep -oP '^ {2,6}(-\w, )?\K--[\w-]+' | sort -u) \
            <(grep -oP '^--[\w-]+' <<<"$output" | sort -u)
    done
}

@test "fish completes commands, options and values" {
    command -v fish >/dev/null || skip "fish is not installed"
    in_fish 'tmesis ru'
    [ "$output" = run ]
    in_fish 'tmesis run --pe'
    [ "$output" = --perturb ]
    in_fish 'tmesis run --color=al'
    [[ $output == *always ]]
    in_fish 'tmesis history pru'
    [ "$output" = prune ]
    in_fish 'tmesis completion z'
    [ "$output" = zsh ]
    in_fish 'tmesis check --pe'
    [[ $output != *--perturb* ]]
}

@test "zsh completes commands, options and values" {
    command -v zsh >/dev/null || skip "zsh is not installed"
    in_zsh 'tmesis hun'
    [ "$output" = 'tmesis hunt ' ]
    in_zsh 'tmesis history pru'
    [ "$output" = 'tmesis history prune ' ]
    in_zsh 'tmesis run --pe'
    [ "$output" = 'tmesis run --perturb=' ]
    in_zsh 'tmesis run --color=al'
    [[ $output == 'tmesis run --color=always'* ]]
}

@test "a shell that there is no completion for" {
    tms completion csh
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: there is completion for bash, zsh and fish, not for csh" ]
    tms completion
    [ "$status" -eq 2 ]
}
