# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of undo share.

# state DIR: all that undo promises to bring back, a line for each object. The size of a directory is the filesystem's business.
state() {
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%p %y %m %U %G %T@\n' \) -o -printf '%p %y %m %U %G %T@ %s %l\n' | LC_ALL=C sort
        find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2
        getfattr -Rdhm 'user\.' . 2>/dev/null)
}
# remember NAME [DIR], unchanged NAME [DIR]
remember() { state "${2:-$WATCHED}" >"$TOP/state.$1"; }
unchanged() {
    state "${2:-$WATCHED}" >"$TOP/state.now"
    diff "$TOP/state.$1" "$TOP/state.now" || fail "${3:-not what it was}"
}

# a tree with something of everything
plant() { # DIR
    mkdir -p "$1/tree/sub/deep" "$1/old"
    echo one >"$1/tree/1" && echo two >"$1/tree/sub/2" && ln -s ../1 "$1/tree/sub/link"
    ln "$1/tree/1" "$1/tree/hard"
    truncate -s 1M "$1/tree/sub/deep/sparse" && echo end >>"$1/tree/sub/deep/sparse"
    echo target >"$1/target" && echo text >"$1/text" && echo moved >"$1/old/moved"
    printf 'odd\n' >"$1/tree/$(printf 'odd\377\n')"
    chmod 4750 "$1/text" && chown 12:34 "$1/target" && chmod 711 "$1/old"
    find "$1" -mindepth 1 -exec touch -h -d '2021-02-03 04:05:06.789' {} +
}
# what the tests do to it
# shellcheck disable=SC2034 # for whoever sources this
damage='cd "$1"; rm -rf tree; echo new >new; mv new target; : >text; chmod 600 text; mkdir -p fake/snapshot; echo x >fake/snapshot/x
    mv old newer; echo more >>newer/moved; touch made'
