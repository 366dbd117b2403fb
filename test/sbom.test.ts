import { expect, test } from 'vitest'
import { noticesOf } from '../scripts/notices.js'
import { addBundled } from '../scripts/sbom.js'

const root = new URL('..', import.meta.url).pathname
const bundle = (...names: string[]) => ({
  outputs: {
    'a.js': {
      inputs: Object.fromEntries(names.map((name) => [`node_modules/${name}/index.js`, { bytesInOutput: 1 }])),
    },
  },
})

test('the list of parts has every library that the bundler put into the program, once', () => {
  const notices = noticesOf([bundle('yaml', 'chalk', '@preact/signals-core')], root)
  const { components } = addBundled({ components: [] }, notices)
  expect(components.map(({ name, purl }) => [name, purl?.replace(/@[\d.]+$/, '')])).toEqual([
    ['@preact/signals-core', 'pkg:npm/%40preact/signals-core'],
    ['chalk', 'pkg:npm/chalk'],
    ['yaml', 'pkg:npm/yaml'],
  ])
  const installed = { components: [components[1]!] }
  expect(addBundled(installed, notices).components.map(({ name }) => name)).toEqual([
    'chalk',
    '@preact/signals-core',
    'yaml',
  ])
})
