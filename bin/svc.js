#!/usr/bin/env node
import { main } from '../dist/cli.js'

const code = await main(process.argv.slice(2))
// What was written leaves before the process does; sockets that are kept for reuse must not hold it back. A reader that has
// gone is told as a shell tells it.
process.stdout.write('', (gone) => process.exit(gone ? 141 : code))
