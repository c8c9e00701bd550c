#!/usr/bin/env bash
# Builds the TypeScript client into clients/typescript/dist, with the pinned compiler, and its example beside it. It needs
# npm. Tests that need the built client skip when it is absent.
set -euo pipefail
cd "$(dirname "$0")/../clients/typescript"

[ -e node_modules/.package-lock.json ] ||
	npm ci --silent --no-audit --no-fund --no-update-notifier --ignore-scripts >&2
npm run --silent build >&2
node_modules/.bin/tsc -p ../../examples/typescriptagent
