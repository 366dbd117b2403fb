import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bundledLibraries, noticesOf } from '../scripts/notices.js'
import { bundledParts, mergeParts } from '../scripts/sbom.js'

const root = new URL('..', import.meta.url).pathname
const bundle = (...names: string[]) => ({
  outputs: {
    'a.js': {
      inputs: Object.fromEntries(names.map((name) => [`node_modules/${name}/index.js`, { bytesInOutput: 1 }])),
    },
  },
})
const program = { name: '@svc-agents/cli', version: '0.1.0' }
const titlesOf = (notices: string): string[] =>
  [...notices.matchAll(/^-{80}\n\n(\S+ \S+) \([^)]+\)\n\n(?=\S)/gm)].map(([, title]) => title!)

test('the list of parts has every library that the bundler put into the program, and those that npm installs, once', () => {
  const libraries = bundledLibraries([bundle('yaml', 'chalk', '@codemirror/state')], root)
  const { components } = bundledParts(program, libraries)
  expect(components.map(({ name, purl }) => [name, purl?.replace(/@[\d.]+$/, '')])).toEqual([
    ['@codemirror/state', 'pkg:npm/%40codemirror/state'],
    ['chalk', 'pkg:npm/chalk'],
    ['yaml', 'pkg:npm/yaml'],
  ])
  const installed = { components: [components[1]!] }
  expect(mergeParts(installed, { components }).components.map(({ name }) => name)).toEqual([
    'chalk',
    '@codemirror/state',
    'yaml',
  ])
})

test('each title of the notices is a part, and each part has its notice', () => {
  const libraries = bundledLibraries([bundle('yaml', 'chalk', 'commander')], root)
  const { components } = bundledParts(program, libraries)
  expect(components.map(({ name, version }) => `${name} ${version}`)).toEqual(titlesOf(noticesOf(libraries)))
})

test('the list of the build has each library of its notices', () => {
  const read = (name: string): string => readFileSync(new URL(`../dist/${name}`, import.meta.url), 'utf8')
  const { bomFormat, metadata, components } = JSON.parse(read('sbom.cdx.json')) as {
    bomFormat: string
    metadata: { component: object }
    components: { name: string; version: string }[]
  }
  expect({ bomFormat, program: metadata.component }).toEqual({
    bomFormat: 'CycloneDX',
    program: { 'bom-ref': '@svc-agents/cli@0.1.0', type: 'application', ...program },
  })
  const titles = titlesOf(read('THIRD-PARTY-NOTICES.txt'))
  expect(titles.length).toBeGreaterThan(50)
  expect(components.map(({ name, version }) => `${name} ${version}`)).toEqual(titles)
})
