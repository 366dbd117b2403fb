import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('the entry needs no Node module before a path is uploaded', async () => {
  const { metafile } = await build({
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    external: ['node:*'],
  })
  const outside = Object.values(metafile.outputs).flatMap((output) => output.imports)
  expect(outside).toEqual([{ path: 'node:fs', kind: 'dynamic-import', external: true }])
})
