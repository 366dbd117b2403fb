// Reads a CycloneDX list from the standard input and writes it with the libraries whose code the bundler put into the program: npm
// knows only what it installs. The notices, whose path is the argument, come from the bundler's own record.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The heading of each library in the notices. */
const TITLE = /^-{80}\n\n(\S+) (\S+) \(([^)]+)\)\n\n(?=\S)/gm

/** @returns the list, with each library of the notices that it lacks */
export function addBundled(list, notices) {
  const known = new Set(list.components.map(({ purl }) => purl))
  const bundled = [...notices.matchAll(TITLE)].map(([, name, version, license]) => ({
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ expression: license }],
    properties: [{ name: 'svc:bundled', value: 'true' }],
  }))
  return { ...list, components: [...list.components, ...bundled.filter(({ purl }) => !known.has(purl))] }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = addBundled(JSON.parse(readFileSync(0, 'utf8')), readFileSync(process.argv[2], 'utf8'))
  process.stdout.write(`${JSON.stringify(list, null, 2)}\n`)
}
