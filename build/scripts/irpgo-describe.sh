# Writes fixtures.json and README.md of testdata/irpgo from the recorded recipes
# and from what each tool makes of each file. Sourced by make-irpgo-testdata.sh.

# --- fixtures.json -----------------------------------------------------------

for f in "$out"/text/*.proftext; do
  name=text/${f##*/}
  [[ $name = text/llvm* ]] || printf '%s\n' "$name" >>"$manifest"
done
sort -o "$manifest" "$manifest"

# The variant of each fixture: its name without the number of the run or the
# letter of the program.
declare -A variant_of
while IFS=$'\t' read -r path variant; do
  variant_of[$path]=$variant
done < <(cut -f1 "$manifest" |
  sed -E 's#^(.*/)(.*)\.[a-z]+$#&\t\2#; s/-run[0-9]+$/-run/; s/\ttool-[ab]$/\ttool/')

# u64 FILE OFFSET: the little-endian word there, as 16 hexadecimal digits.
u64() { od -An -v -tx8 --endian=little -j "$2" -N 8 "$1" | tr -d ' '; }

# format_of FILE: "FORMAT VERSION".
format_of() {
  local magic version
  [[ -s $1 ]] || { echo "empty 0"; return; }
  magic=$(u64 "$1" 0)
  version=$((16#$(u64 "$1" 8) & 0xffffffff))
  case $magic in
  ff6c70726f667281 | ff6c70726f665281) echo "raw $version" ;;
  8169666f72706cff) echo "indexed $version" ;;
  *) echo "text 0" ;;
  esac
}

# quoted TEXT: a JSON string.
quoted() {
  local s=${1//\\/\\\\}
  printf '"%s"' "${s//\"/\\\"}"
}

# joined ITEM...: a JSON list of numbers.
joined() {
  local IFS=,
  printf '[%s]' "$*"
}

# entry PATH: the JSON object of one fixture, found by running each tool on it.
entry() {
  local path=$1 v said error= readable=() warned=()
  local format version
  read -r format version < <(format_of "$out/$path")
  for v in "${clangs[@]}"; do
    if said=$(timeout 60 "llvm-profdata-$v" merge "$out/$path" -o merged.profdata 2>&1); then
      readable+=("$v")
      [[ -z $said ]] || warned+=("$v")
    elif ((v == 22)); then
      error=${said%%$'\n'*}
      error=${error#*"$path: "}
    fi
  done
  printf '{"path": %s, "producer": %s, "variant": %s, "format": "%s", "version": %d, "readable_by": %s, "warned_by": %s' \
    "$(quoted "$path")" "$(quoted "${path%%/*}")" "$(quoted "${variant_of[$path]}")" \
    "$format" "$version" "$(joined "${readable[@]}")" "$(joined "${warned[@]}")"
  [[ -z $error ]] || printf ', "error": %s' "$(quoted "$error")"
  printf '}'
}

{
  comma='['
  while IFS=$'\t' read -r path _; do
    printf '%s\n  ' "$comma"
    entry "$path"
    comma=,
  done <"$manifest"
  printf '\n]\n'
} >"$out/fixtures.json"

# --- README.md ---------------------------------------------------------------

# cell TEXT: text for a table cell.
cell() { printf '%s' "${1//|/\\|}"; }

# The recipes with N for the release, so that equal ones can share a row.
paste <(cut -s -f1 "$manifest") <(cut -s -f2- "$manifest" |
  sed -E 's/(clang|profdata|lld)-(14|16|19|22)/\1-N/g; s#(clang|llvm)(14|16|19|22)/#\1N/#g') >"$work/recipes"

# rows GLOB: the table rows of the fixtures whose path matches.
rows() {
  local path recipe key base variant
  local -A folders=() keys=()
  while IFS=$'\t' read -r path recipe; do
    [[ $path = $1 ]] || continue
    key=${path##*/}$'\t'$recipe
    [[ -n ${folders[$key]:-} ]] || keys[${variant_of[$path]}]+=$key$'\n'
    folders[$key]+=" ${path%%/*}"
  done <"$work/recipes"
  for variant in "${variants[@]}"; do
    while IFS= read -r key; do
      [[ -n $key ]] || continue
      base=${key%%$'\t'*} recipe=${key#*$'\t'}
      printf '| `%s`<br>%s | %s | `%s` |\n' "$base" "${folders[$key]# }" \
        "$(cell "${about[$variant]}")" "$(cell "${recipe//$'\t'/'`<br>`'}")"
    done <<<"${keys[$variant]:-}"
  done
}

# hand_rows: hand-written text profiles begin with a comment that says what they
# are.
hand_rows() {
  local f
  for f in "$out"/text/*.proftext; do
    [[ ${f##*/} = llvm* ]] || printf '| `%s` | %s |\n' "${f##*/}" \
      "$(cell "$(head -n 1 "$f" | tr -cd '\40-\176' | sed 's/^# *//')")"
  done
}

header='| File, folders | Exercises | Made by |
|---|---|---|'
cat >"$out/README.md" <<END
# Real LLVM profiles

<!-- Written by build/scripts/make-irpgo-testdata.sh, which also made the files. -->

Small profiles that real compilers and tools made from the sources in \`src\`. \`build/scripts/make-irpgo-testdata.sh\` makes all
of them again, with this table and \`fixtures.json\`: for each file its producer, variant, format and version, which
\`llvm-profdata\` (14, 16, 19, 22) merges it, which of those warn, and what LLVM 22 says when it refuses. Each of those
was found by running the tool.

Commands are shown as they ran, in a folder that holds \`src\`; N is the release in the folder's name. Those that name
files as \`clangN/…\`, \`llvmN/…\` or \`text/…\` ran in this folder.

Made with $(for v in "${clangs[@]}"; do "clang-$v" --version | sed -nE 's/.*clang version ([0-9.]+).*/clang \1, /p'; done | tr -d '\n')$(rustc --version | sed -E 's/ \(.*//'), on x86-64 Linux.

**What varies.** Two runs of the script on one machine give the same bytes, except for the times in MemProf sections:
paths are relative, and \`setarch -R\` switches address randomisation off. Between machines these may differ too:
addresses of functions and value nodes in raw files (system C library and linker), build ids, hashes in rustc's symbol
names. Function names, counts and hashes made by one compiler release do not.

## Raw (.profraw)

$header
$(rows 'clang*.profraw')
$(rows 'rustc*.profraw')

## Indexed (.profdata)

$header
$(rows 'llvm*.profdata')

## Text (.proftext), written by LLVM 22

$header
$(rows 'text/llvm*')

## Text, written by hand

The script does not change these. \`bad-*\` are refused by every release.

| File | What it is |
|---|---|
$(hand_rows)
END
