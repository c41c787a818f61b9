#!/usr/bin/env bash
# Runs a Windows program under Wine, without a screen, with settings of its own in build/wine and a
# time limit.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export WINEPREFIX=${ASHLAR_WINE_PREFIX:-$here/build/wine} WINEDEBUG=${WINEDEBUG:--all}
export WINEDLLOVERRIDES="mscoree=d;mshtml=d;winemenubuilder.exe=d;winedbg.exe=d"
# Where tests work: a path that is the same for programs on either side.
export ASHLAR_TEST_TMPDIR=${TMPDIR:-/tmp}
# Arguments and names of files are UTF-8 on either side; the code page of Windows programs stays
# another one.
export LC_ALL=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
exec timeout --kill-after=10 "${ASHLAR_WINE_SECONDS_MAX:-1800}" "$wine" "$@"
