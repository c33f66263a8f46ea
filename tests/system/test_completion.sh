#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The real shells complete what the help says: verbs, options, their values, sessions and watches that there are.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
run true
session_over last
id=$(field last session.id)
mkdir "$TOP/c"
mw completion bash >"$TOP/c/bash" && mw completion zsh >"$TOP/c/_mountwatch" && mw completion fish >"$TOP/c/fish" || fail completion
status 2 mw completion csh
cd "$TOP/c" || fail cd

note "bash"
b() { # WORD... the last one is being typed; what bash would offer, in one line
    bash --norc --noprofile -c 'set -u; source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mountwatch; printf "%s\n" "${COMPREPLY[@]:-}" | sort | xargs' bash "$@" 2>&1
}
bash_offers() { # WANT WORD...
    local want=$1
    shift
    is "$want" "$(b "$@")" "bash on '$*'"
}
bash_offers 'reload report' mountwatch re
bash_offers 'start stop' mountwatch session st
bash_offers '--html' mountwatch report --ht
bash_offers '--label' mountwatch session start --l
bash_offers '' mountwatch session list --l
bash_offers 'deny' mountwatch run --policy de
bash_offers 'deny' mountwatch run --policy = de
bash_offers 'alert ask deny freeze kill record' mountwatch run --policy =
bash_offers 'never' mountwatch --socket "$MOUNTWATCH_SOCKET" session stop --fail-on n
bash_offers "$id last" mountwatch report ''
bash_offers "$id" mountwatch undo "${id:0:4}"
bash_offers 'case' mountwatch doctor ca
bash_offers 'case' mountwatch events --watch ''
bash_offers 'bash fish zsh' mountwatch completion ''
bash_offers 'fish' mountwatch config check 'fi'
bash_offers 'fish' mountwatch report --json --html 'fi'
bash_offers '' mountwatch nonsense ''
bash_offers '' mountwatch version ''
bash_offers 'fish' mountwatch run -- ls 'fi'
bash_offers 'fish' mountwatch run --label x ls 'fi'
note "every verb and option of the help"
for first in $(mw help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort -u); do
    [[ " $(b mountwatch '') " == *" $first "* ]] || fail "bash does not know '$first'"
    for second in $(mw help | sed -n "s/^  $first \([a-z]\+\)  .*/\1/p"); do
        [[ " $(b mountwatch "$first" '') " == *" $second "* ]] || fail "bash does not know '$first $second'"
    done
done
for verb in run report 'session start' 'quarantine purge'; do
    # shellcheck disable=SC2086 # one word or two
    for option in $(mw $verb --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        # shellcheck disable=SC2086 # one word or two
        [[ " $(b mountwatch $verb --) " == *" $option "* ]] || fail "bash does not know '$verb $option'"
    done
done

if command -v fish >/dev/null; then
    note "fish"
    fish_offers() { # WANT LINE
        is "$1" "$(HOME=$TOP fish --no-config -c 'source ./fish; complete -C "$argv[1]"' -- "$2" 2>&1 | cut -f1 | sort -u | xargs)" "fish on '$2'"
    }
    fish_offers 'reload report' 'mountwatch re'
    fish_offers 'start stop' 'mountwatch session st'
    fish_offers '--html' 'mountwatch report --ht'
    fish_offers 'deny' 'mountwatch run --policy de'
    fish_offers "$id last" 'mountwatch report '
    fish_offers 'case' 'mountwatch doctor ca'
    fish_offers 'fish' 'mountwatch completion f'
    fish_offers 'fish' 'mountwatch config check fi'
    fish_offers '--policy=deny' 'mountwatch run --policy=de'
else
    note "no fish here"
fi

if command -v zsh >/dev/null && command -v expect >/dev/null; then
    note "zsh"
    cat >"$TOP/zsh.exp" <<'EXP'
set timeout 20
spawn -noecho env {PS1=ready> } zsh -f -i
proc ready {} { expect "ready> " {} timeout { puts "\nno prompt"; exit 9 } }
ready
send "PS1='ready> '; stty columns 200; fpath=(\$PWD \$fpath); autoload -Uz compinit; compinit -u -d ./zcompdump; LISTMAX=1000\r"
expect "LISTMAX"
ready
# typed, wanted: in the line that was completed, or in the list below it
foreach {typed wanted} $argv {
    send "$typed\t"
    expect -- $wanted {} timeout { puts "\nnot on '$typed': $wanted"; exit 9 }
    send "\025\r"
    ready
}
send "exit\r"
expect eof
EXP
    timeout -k 2 60 expect "$TOP/zsh.exp" 'mountwatch repo' 'report' 'mountwatch session sta' 'start' 'mountwatch report --ht' '--html' 'mountwatch run --policy de' 'deny' \
        "mountwatch report ${id:0:6}" "$id" 'mountwatch doctor ca' 'case' 'mountwatch completion f' 'fish' 'mountwatch session ' 'freeze' 'mountwatch qua' 'quarantine' \
        >"$TOP/zsh.log" 2>&1 || fail "zsh: $(tail -n 5 "$TOP/zsh.log" | tr -d '\r')"
else
    note "no zsh, or no expect"
fi
cd /
daemon_stop || fail stop
