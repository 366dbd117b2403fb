// Bundles the extension and packs it as dist/svc.vsix: `node build.js`, after `npm ci` in this folder.
import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createVSIX } from '@vscode/vsce'
import { build } from 'esbuild'

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
copyFileSync('../../LICENSE', 'LICENSE.txt')
await build({
  entryPoints: ['src/extension.ts'],
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  minify: true,
  outfile: 'dist/extension.cjs',
})
await createVSIX({ packagePath: 'dist/svc.vsix', dependencies: false, allowMissingRepository: true })
