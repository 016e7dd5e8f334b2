# Sourced by the viewers' tests, behind tests/shell/common.sh: what npm's viewers and the browser's driver need.
modules=$QPERF_BUILD/tests/viewers.modules

# fetch_modules SCRIPT.mjs [TOOL...]: the packages that package.json pins, with the script beside them, in $modules; the test is
# skipped where a tool is missing or npm's registry cannot be reached.
fetch_modules() {
  local tool
  for tool in node npm chromium "${@:2}"; do command -v "$tool" >/dev/null || skip "no $tool"; done
  mkdir -p "$modules"
  cp "$QPERF_SOURCE"/tests/viewers/{package.json,package-lock.json,.npmrc,"$1"} "$modules/"
  (cd "$modules" && npm ci >"$work/npm.log" 2>&1) || { tail -n 3 "$work/npm.log"; skip "the viewers could not be fetched"; }
}
