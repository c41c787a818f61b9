#!/usr/bin/env bash
# The main job on real input: loads the package index of this machine into a database on disk,
# reads, scans, deletes, compacts, reopens and verifies it, and proves with a program of the system
# (awk, sort, sha256sum) that what comes out is what went in.
#
# Called by ./dev demo. ASHLAR names the command-line tool; the database is made anew in build/demo.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

readonly ashlar=${ASHLAR:-$PWD/build/tool/ashlar}
readonly work=build/demo
readonly db=$work/db
readonly input=$work/input
readonly began=$SECONDS

say() { printf '\n%s\n' "$*"; }
detail() { printf '   %-34s %s\n' "$1" "$2"; }
fail() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}
tool() { "$ashlar" --db "$db" "$@"; }
bytes_of() { find "$@" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'; }
megabytes() { awk -v bytes="$1" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'; }
thousands() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }
# field NAME: the value of a line "NAME  value" on standard input.
field() { awk -v name="$1" '$1 == name { print $2 }'; }
# since START, in seconds, both from `now`.
now() { date +%s.%N; }
since() { awk -v start="$1" -v end="$(now)" 'BEGIN { printf "%.2f s", end - start }'; }

# Finds the input: sets kind and source.
find_input() {
  if command -v apt-cache >/dev/null && apt-cache dumpavail >"$input" 2>/dev/null &&
    (($(grep -c '^Package:' "$input") > 100)); then
    kind=deb822
    source="apt-cache dumpavail: the package index of this machine"
    return
  fi
  kind=tsv
  local words
  for words in /usr/share/dict/words /usr/share/dict/american-english; do
    if [[ -s $words ]]; then
      source="$words: there is no package index here (apt-get update would fetch one)"
      tr -d '\t' <"$words" |
        awk 'NF { print $0 "\t" "line " NR " of the word list: " $0 }' >"$input"
      return
    fi
  done
  source="words of the texts below /usr/share: there is neither a package index"
  source+=" nor a word list here"
  # What head leaves unread ends the others early, which is no failure.
  local folders=(/usr/share/common-licenses /usr/share/doc /usr/share/perl /etc)
  { find "${folders[@]}" -type f -size -512k -print0 2>/dev/null | sort -z |
    xargs -0 -r cat 2>/dev/null || true; } |
    { head -c 40000000 || true; } | tr -cs 'A-Za-z0-9_.-' '\n' |
    awk 'length($0) > 2 { count[$0]++; if (!($0 in first)) first[$0] = NR }
         END { for (w in count)
                 print w "\t" "first at word " first[w] ", seen " count[w] " times" }' >"$input"
}

# What the database must hold: for every key its last value, in key order, one "key<TAB>value" a
# line, with the line ends of values as \001.
expected_entries() {
  if [[ $kind == deb822 ]]; then
    awk 'BEGIN { RS = ""; FS = "\n" }
         { key = ""
           for (i = 1; i <= NF && key == ""; i++)
             if ($i ~ /^Package:/) {
               key = $i; sub(/^Package:[ \t]*/, "", key); sub(/[ \t]*$/, "", key)
             }
           gsub(/\n/, "\001"); last[key] = $0 "\001" }
         END { for (key in last) print key "\t" last[key] }' "$input"
  else
    awk '{ key = $0; sub(/\t.*/, "", key); value = $0; sub(/^[^\t]*\t/, "", value)
           last[key] = value }
         END { for (key in last) print key "\t" last[key] }' "$input"
  fi | sort -t "$(printf '\t')" -k 1,1
}
# The values of "key<TAB>value" lines, as they were.
values_of() { cut -f 2- | tr -d '\n' | tr '\001' '\n'; }
# All values of the database in key order, byte for byte, and nothing between them.
stored_values() { tool --value-format raw scan --values-only; }
sum() { sha256sum | cut -d ' ' -f 1; }
# same WHAT EXPECTED FOUND
same() {
  [[ $2 == "$3" ]] || fail "$1: expected $2, found $3"
  detail "$1" "$3: as expected"
}

show_levels() {
  tool stats | awk 'NR > 1 && $2 != "total" {
    where = $2 == "memory" ? "in memory and in the log" : "level " $2
    printf "   %-34s %d files, %d entries, %.1f MB\n", where, $3, $4, $6 / 1e6
  }'
}

[[ -x $ashlar ]] || fail "$ashlar is not built; run ./dev demo"
rm -rf "$work"
mkdir -p "$work"

say "1. The input"
find_input
expected_entries >"$work/expected"
readonly entries=$(wc -l <"$work/expected")
readonly input_bytes=$(stat -c %s "$input")
detail "source" "$source"
detail "size" "$(megabytes "$input_bytes"), $(thousands "$entries") different keys"

say "2. Load it into $db"
tool load "$input" --input-format "$kind" >"$work/load"
detail "entries" "$(thousands "$(field entries <"$work/load")") in $(field seconds <"$work/load") s"
readonly rate=$(thousands "$(field entries_per_second <"$work/load")")
detail "rate" "$rate entries/s, $(field megabytes_per_second <"$work/load") MB/s"
detail "rejected" "$(field rejected <"$work/load")"
show_levels

say "3. Read some back"
if [[ $kind == deb822 ]]; then
  candidates="bash coreutils libc6 zlib1g"
  prefix=librust-
else
  candidates="the and with"
  prefix=in
fi
keys=()
for key in $candidates; do
  if grep -q "^$key$(printf '\t')" "$work/expected"; then keys+=("$key"); fi
done
if ((${#keys[@]} == 0)); then keys=("$(head -n 1 "$work/expected" | cut -f 1)"); fi
for key in "${keys[@]}"; do
  start=$(now)
  tool get "$key" >"$work/value"
  size=$(stat -c %s "$work/value")
  detail "get $key" "$size bytes in $(since "$start"), the tool's start included"
done
head -n 6 "$work/value" | cut -c 1-100 | sed 's/^/      | /'
if tool get no-such-key-here 2>/dev/null; then fail "found a key that does not exist"; fi
detail "get no-such-key-here" "not found, exit code 1"

say "4. Scan a range: every key that begins with $prefix"
readonly in_range=$(awk -F '\t' -v prefix="$prefix" 'index($1, prefix) == 1' "$work/expected" |
  wc -l)
start=$(now)
same "keys" "$in_range" "$(tool scan --prefix "$prefix" --count | field entries)"
detail "time" "$(since "$start")"
tool scan --prefix "$prefix" --keys-only --limit 3 | sed 's/^/      | /'

say "5. Everything that went in comes out"
start=$(now)
same "sha256 of all values, in key order" "$(values_of <"$work/expected" | sum)" \
  "$(stored_values | sum)"
detail "time" "$(since "$start"), of the check too"

say "6. Delete that range"
start=$(now)
tool scan --prefix "$prefix" --keys-only | tool delete --keys - >/dev/null
detail "deleted" "$(thousands "$in_range") entries in $(since "$start")"
same "keys left in the range" 0 "$(tool scan --prefix "$prefix" --count | field entries)"

say "7. Compact"
readonly before=$(bytes_of "$db")
tool compact >"$work/compact"
readonly after=$(bytes_of "$db")
detail "on disk before, the log included" "$(megabytes "$before")"
detail "on disk after" "$(megabytes "$after"), $(awk -v after="$after" -v input="$input_bytes" \
  'BEGIN { printf "%.0f %% of the input", 100 * after / input }')"
detail "time" "$(awk 'NR == 2 { print $NF }' "$work/compact") s"
show_levels

say "8. Reopen, verify every checksum, read every entry"
awk -F '\t' -v prefix="$prefix" 'index($1, prefix) != 1' "$work/expected" >"$work/expected_after"
start=$(now)
tool verify --format csv | tr -d '\r' >"$work/verify"
readonly tables=$(awk -F , 'NR == 2 { printf "%d tables, %.1f MB", $5, $6 / 1e6 }' "$work/verify")
detail "checked" "$tables in $(since "$start"): no damage"
same "entries" "$(wc -l <"$work/expected_after")" \
  "$(awk -F , 'NR == 2 { print $2 }' "$work/verify")"
same "sha256 of all values, in key order" "$(values_of <"$work/expected_after" | sum)" \
  "$(stored_values | sum)"

say "All of it held, in $((SECONDS - began)) s. What to try next:"
readonly shown=${ashlar#"$PWD/"}
cat <<END
   $shown --db $db get ${keys[0]}
   $shown --db $db scan --prefix ${keys[0]:0:3} --limit 5 --keys-only
   $shown --db $db --format json stats
   $shown --db $db properties rocksdb.stats
   $shown --db $db dump | head -n 3
   $shown --help
END
if command -v ldb >/dev/null; then
  printf '   ldb --db=%s scan --max_keys=1      # RocksDB reads the same files\n' "$db"
fi
