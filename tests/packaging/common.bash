# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # the tests set $work
# What the tests of this directory share: clean systems, no more than Debian's minimal installation in a
# directory. $work is the directory of the test.

# needs_commands COMMAND:PACKAGE…: ends the test, as skipped, unless these commands are there.
needs_commands() {
    local pair
    for pair; do
        if ! command -v "${pair%:*}" >/dev/null; then
            echo "$0: skipped, ${pair%:*} is not there: apt-get install ${*#*:}"
            exit 0
        fi
    done
}

# needs COMMAND:PACKAGE…: the same, and the user must be root.
needs() {
    needs_commands "$@"
    if ((EUID != 0)); then
        echo "$0: skipped, only root can make a clean system and enter it"
        exit 0
    fi
}

# logged COMMAND…: $work/log has what it prints; the last of it is shown if it fails.
logged() {
    "$@" >"$work/log" 2>&1 || {
        echo "$0: failed: $*"
        tail -n 40 "$work/log"
        return 1
    }
}

# clean_system SUITE DIRECTORY: makes one.
clean_system() {
    if ! logged debootstrap --variant=minbase "$1" "$2"; then
        grep -q 'Failed getting release file' "$work/log" || return 1
        echo "$0: skipped, debootstrap can't reach a mirror"
        exit 0
    fi
    rm -f "$2"/var/cache/apt/archives/*.deb
}

# in_system DIRECTORY COMMAND: a command for the shell in there. Mounts and processes that it leaves end with it.
in_system() {
    # shellcheck disable=SC2016 # the inner shell expands it
    DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 unshare --mount --propagation private --pid --fork --kill-child \
        bash -euc 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -euc "$1"' "$1" "$2"
}

# project_files DIRECTORY: a copy of the project, without what git ignores.
project_files() {
    mkdir -p "$1"
    tests/lint/files | tar -c -T - | tar -x -C "$1"
}
