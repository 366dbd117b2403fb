import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { loadOptionalSdk, OPTIONAL_SDKS } from '../../src/providers/optional-sdk.ts'

const read = (path: string) => JSON.parse(readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8'))
const { peerDependencies, peerDependenciesMeta, devDependencies } = read('package.json')
const tested = { ...read('scripts/tools/package.json').dependencies, ...devDependencies }

test('the releases that are named are those that are tested, and nobody must install them', () => {
  for (const [name, version] of Object.entries(OPTIONAL_SDKS)) {
    expect([name, tested[name], peerDependencies[name]]).toEqual([name, version, `^${version}`])
    expect(peerDependenciesMeta[name]).toEqual({ optional: true })
  }
})

test('an SDK that is not installed is named with the command that installs it', async () => {
  const name: string = '@google/genai-that-is-not-there'
  await expect(loadOptionalSdk('@google/genai', () => import(name))).rejects.toMatchObject({
    name: 'ProviderError',
    message: 'This provider needs the package @google/genai; install it beside svc: npm install @google/genai@2.32.0',
    retryable: false,
  })
})
