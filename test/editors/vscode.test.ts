/** The extension for VS Code is sound and packs; what it shows comes from `svc lsp` (`test/e2e/lsp.test.ts`) and from answers in JSON. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commandOf } from '../../scripts/tool.js'
import { installTools } from '../../scripts/tools.js'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'editors/vscode')
const isInstalled = installTools('editors/vscode')

const run = (command: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), { cwd: FOLDER, encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}`
}

test.skipIf(!isInstalled)('its types are sound', () => {
  expect(run([...commandOf('tsc'), '-p', '.'])).toBe('')
})

test.skipIf(!isInstalled)('it packs as one bundle with its page, its licence and nothing else', () => {
  expect(run([process.execPath, 'build.js'])).toBe('')
  const archive = readFileSync(join(FOLDER, 'dist/svc.vsix'), 'latin1')
  // The entries of the archive's central directory: the length of the name, and the name behind the header of 46 bytes.
  const entries = archive.split('PK\u0001\u0002').slice(1)
  const names = entries.map((entry) => entry.slice(42, 42 + entry.charCodeAt(24)))
  expect(names.toSorted()).toEqual([
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/LICENSE.txt',
    'extension/dist/extension.cjs',
    'extension/package.json',
    'extension/readme.md',
  ])
  expect(archive.length).toBeLessThan(300_000)
})

test('it starts nothing in a folder that nobody trusts', () => {
  const { capabilities } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    readonly capabilities: object
  }
  expect(capabilities).toMatchObject({ untrustedWorkspaces: { supported: false }, virtualWorkspaces: false })
})
