# shellcheck shell=sh
# Sourced by the scripts beside it, with $root set to the checkout. It answers one question for next to nothing (one small
# process, no Python): does .venv hold what a layer needs? Only when it does not, scripts/install is called.
# A layer is one lock file: requirements/LAYER.txt.

venv=$root/.venv

# A checksum, not file times: a checkout or a restored backup changes times at will. The absolute paths in the output
# make a copied .venv count as not ready, since scripts in it point at the place it was copied from.
stamp() {
    cksum "$root/pyproject.toml" "$root/requirements/$1.txt"
}

is_ready() {
    [ -x "$venv/bin/python" ] && [ -r "$venv/ready-$1" ] || return 1
    { IFS= read -r project && IFS= read -r pins; } <"$venv/ready-$1" || return 1 # the shell reads; `cat` would be a process
    [ "$project
$pins" = "$(stamp "$1")" ]
}

ready() {
    is_ready "$1" || /bin/sh "$root/scripts/install" "$1" || exit
}
