#!/usr/bin/env bash
# What the composite action runs: the gate, its summary, its outputs and, where asked for, the comment.
# Every input comes as a GATE_ variable; the exit status is that of findback gate.
set -euo pipefail

python="${GATE_PYTHON:-python}"
out="${RUNNER_TEMP:-$(mktemp -d)}/findback-gate"
mkdir -p "$out"
cd "${GATE_FOLDER:-.}"

if [ -n "${GATE_INSTALL:-}" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check "$GATE_INSTALL"
fi

words=(gate --policy "${GATE_POLICY:-margin}" --annotations --markdown "$out/comment.md" --junit "$out/junit.xml")
baseline="${GATE_BASELINE:-}"
if [ -n "${GATE_BASE:-}" ]; then
  if [ -z "$baseline" ]; then
    echo "::error title=findback gate::name the baseline that is to be read from the base" && exit 2
  fi
  # Ends in the name it has there, which is the one the report shows.
  mkdir -p "$out/base"
  if ! git show --end-of-options "$GATE_BASE:./${GATE_EVALSET:-evalset}/baselines/$baseline.jsonl" > "$out/base/$baseline.jsonl"; then
    echo "::error title=findback gate::there is no such baseline in the base; fetch it, and publish one there" && exit 6
  fi
  baseline="$out/base/$baseline.jsonl"
fi
if [ -n "$baseline" ]; then words+=(--baseline "$baseline"); fi
if [ -n "${GATE_RUN:-}" ]; then words+=(--run "$GATE_RUN"); fi
if [ "${GATE_NIGHTLY:-false}" = true ]; then words+=(--nightly); fi
if [ "${GATE_SHOW_QUERIES:-false}" = true ]; then words+=(--show-queries); fi
if [ -n "${GATE_RETRIEVER:-}" ]; then words+=(-- "$GATE_RETRIEVER"); fi

rm -f "$out/comment.md" "$out/junit.xml"
status=0
"$python" -m findback "${words[@]}" || status=$?

if [ -s "$out/comment.md" ]; then
  verdict="$(sed -nE 's/^## findback gate: (pass|fail|undecided)$/\1/p' "$out/comment.md")"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$out/comment.md" >> "$GITHUB_STEP_SUMMARY"; fi
  if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'verdict=%s\nmarkdown=%s\njunit=%s\n' "$verdict" "$out/comment.md" "$out/junit.xml" >> "$GITHUB_OUTPUT"
  fi
  if [ "${GATE_COMMENT:-false}" = true ] && [ -n "${GATE_PULL_REQUEST:-}" ]; then
    gh pr comment "$GATE_PULL_REQUEST" --edit-last --create-if-none --body-file "$out/comment.md" ||
      echo "::warning title=findback gate::the comment could not be written"
  fi
fi
exit "$status"
