#!/bin/sh
# Installs a .deb, looks at it as a user and a desktop would, starts it, and removes it again: deb.sh PACKAGE FOLDER_WITH_RECORDINGS
set -eu
package=$1
recordings=$2
say() { echo "ok: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

apt-get install --yes --no-install-recommends "$package" desktop-file-utils shared-mime-info xdg-utils man-db xvfb >/dev/null
trap 'apt-get remove --yes loadscope >/dev/null' EXIT
[ "$(command -v loadscope)" = /usr/bin/loadscope ] || fail "another loadscope is found first: $(command -v loadscope)"
loadscope --version && say "it starts"
desktop-file-validate /usr/share/applications/loadscope.desktop && say "the desktop entry is valid"
for page in loadscope loadscope-record loadscope-watch loadscope-report; do
    MANPAGER=cat man "$page" | grep -q -i "loadscope" || fail "there is no man page of $page"
done
say "man pages"
bash -c '. /usr/share/bash-completion/completions/loadscope && complete -p loadscope' >/dev/null && say "completions of bash"
update-mime-database /usr/share/mime
work=$(mktemp -d)
cd "$work"
for recording in "$recordings"/*.jsonl.zst; do
    cp "$recording" run.jsonl.zst
    break
done
loadscope report run.jsonl.zst | grep -q "waited" || fail "it does not report"
say "it reports"
printf 'print("program")\n' > program.py
[ "$(loadscope record -o other.jsonl.zst -- python3 program.py 2>/dev/null)" = program ] || fail "a program is not as it was"
say "a program without PyTorch is as it was"
type=$(xdg-mime query filetype run.jsonl.zst)
[ "$type" = application/x-loadscope-recording ] || fail "a recording is taken for $type"
say "a recording is known by its type"
# The command that a desktop takes from the entry, with a recording to open.
command=$(sed -n 's/^Exec=\(.*\) %F$/\1/p' /usr/share/applications/loadscope.desktop)
status=0
LIBGL_ALWAYS_SOFTWARE=1 timeout 10 xvfb-run --auto-servernum $command run.jsonl.zst 2>error.txt || status=$?
[ "$status" = 124 ] || { cat error.txt >&2; fail "the window ended by itself ($status)"; }
say "the window opens a recording"
