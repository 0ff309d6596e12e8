#!/usr/bin/env bash
# Takes the pictures of the README, docs/report-light.png and docs/report-dark.png, of a report
# on the profiles of the repository. Needs Chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
go build -o "$work/profuse" ./cmd/profuse
cp testdata/irpgo/clang22/ir-run?.profraw "$work"
(cd "$work" && ./profuse merge -q -o app.profdata ir-run?.profraw && ./profuse report -o report.html app.profdata)
for theme in light dark; do
  "$browser" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --disable-quic --user-data-dir="$work/$theme" --hide-scrollbars --window-size=1200,760 --virtual-time-budget=3000 \
    --screenshot="docs/report-$theme.png" "file://$work/report.html#theme=$theme" 2>/dev/null
done
