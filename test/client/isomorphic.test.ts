import { build } from 'esbuild'
import { expect, test } from 'vitest'

const outside = async (entry: string, platform: 'browser' | 'neutral'): Promise<readonly { path: string }[]> => {
  const { metafile } = await build({
    entryPoints: [entry],
    platform,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
  })
  return Object.values(metafile.outputs).flatMap((output) => output.imports)
}

test('a bundle for a browser, made without any setting, leaves nothing outside', async () => {
  expect(await outside('src/client/index.ts', 'browser')).toEqual([])
})

test('so does one of the library as it is published, for a browser and for a worker', async () => {
  expect(await outside('dist/client.js', 'browser')).toEqual([])
  expect(await outside('dist/client.js', 'neutral')).toEqual([])
})
