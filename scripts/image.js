// Makes every optional peer a dependency in package.json of the build of the image, where nobody can install one later. `npm ci`
// then installs each at the version that the lock pins.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package.json', import.meta.url)
const { devDependencies, ...contents } = JSON.parse(readFileSync(file, 'utf8'))
const peers = Object.keys(contents.peerDependencies)
const missing = peers.filter((name) => devDependencies[name] === undefined)
if (missing.length > 0) throw new Error(`No exact version is pinned in devDependencies for ${missing.join(', ')}.`)
for (const name of peers) {
  contents.dependencies[name] = devDependencies[name]
  delete devDependencies[name]
}
contents.peerDependencies = {}
contents.peerDependenciesMeta = {}
writeFileSync(file, `${JSON.stringify({ ...contents, devDependencies }, null, 2)}\n`)
