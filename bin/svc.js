#!/usr/bin/env node
// CommonJS, as the file beside it says: Node's loader of modules alone would take as long as `svc --version`.
require('../dist/start.cjs').start(process.argv.slice(2))
