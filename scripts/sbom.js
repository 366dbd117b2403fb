// Lists of parts (CycloneDX). The build writes dist/sbom.cdx.json, the libraries whose code the bundler put into the program: npm knows
// only what it installs. The image has both: this script reads npm's list from the standard input, and writes it with the parts of the
// list whose path is the argument.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The list of the bundled libraries, for the program of this name and version. Two builds of one state write the same bytes. */
export const bundledParts = (program, libraries) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { 'bom-ref': `${program.name}@${program.version}`, type: 'application', ...program } },
  components: libraries.map(({ name, version, license }) => ({
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: purlOf(name, version),
    licenses: [{ expression: license }],
    properties: [{ name: 'svc:bundled', value: 'true' }],
  })),
})

/** @returns the list, with each part of the other that it lacks */
export function mergeParts(list, other) {
  const known = new Set(list.components.map(({ purl }) => purl))
  return { ...list, components: [...list.components, ...other.components.filter(({ purl }) => !known.has(purl))] }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = mergeParts(JSON.parse(readFileSync(0, 'utf8')), JSON.parse(readFileSync(process.argv[2], 'utf8')))
  process.stdout.write(`${JSON.stringify(list, null, 2)}\n`)
}
