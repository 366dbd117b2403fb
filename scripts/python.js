// Writes what is generated of the Python client (clients/python): its types, from schemas/openapi.yaml, and its synchronous half, from the
// asynchronous one. Needs no Python.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { writePythonTypes } from './python-types.js'
import { writeGenerated } from './write-generated.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const HOME = 'clients/python/src/svc_agents'

/** What a file of `_async` has in its other half, word by word. `_sync/platform.py` alone is written by hand. */
const WORDS = [
  [/\basync (?=def|with|for)/g, ''],
  [/\bawait /g, ''],
  [/\bAsyncGenerator\[(\w+), None\]/g, 'Generator[$1, None, None]'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b__a(?=enter__|exit__|next__|iter__)/g, '__'],
  [/\baclose\b/g, 'close'],
  [/\baiter_bytes\b/g, 'iter_bytes'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
]
const toSync = (text) => WORDS.reduce((now, [pattern, instead]) => now.replaceAll(pattern, instead), text)

const { types, readers } = writePythonTypes(parse(readFileSync(join(root, 'schemas/openapi.yaml'), 'utf8')))
writeGenerated(`${HOME}/types.py`, types)
writeGenerated(`${HOME}/_readers.py`, readers)
for (const name of readdirSync(join(root, HOME, '_async')).filter((each) => each.endsWith('.py')))
  if (name !== 'platform.py')
    writeGenerated(
      `${HOME}/_sync/${name}`,
      `# Written by scripts/python.js from _async/${name}.\n${toSync(readFileSync(join(root, HOME, '_async', name), 'utf8'))}`,
    )
