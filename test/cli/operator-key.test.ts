/** Where a command finds the credential of the person who gives it. Source: docs/design/command-line.md#settings */
import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createApiKeySecret } from '../../src/base/api-key.ts'
import type { GlobalOptions } from '../../src/cli/shell/mode.ts'
import { openProject } from '../../src/cli/project/project.ts'
import { createWorld } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const cwd = mkdtempSync(join(tmpdir(), 'svc-operator-key-'))
afterAll(() => removeDirectory(cwd))

const [inFlag, inStdin, inEnv, inFile, inProfile] = Array.from({ length: 5 }, () => createApiKeySecret())
writeFileSync(join(cwd, 'flag.key'), `${inFlag}\n`)
writeFileSync(join(cwd, 'env.key'), `${inFile}\n`)
writeFileSync(join(cwd, 'empty.key'), '\n')
writeFileSync(join(cwd, 'svc.config.yaml'), 'profiles:\n  prod: { url: https://prod.example }\n  bare: {}\n')
mkdirSync(join(cwd, 'svc'))
writeFileSync(join(cwd, 'svc/credentials.json'), JSON.stringify({ prod: { operator_key: inProfile } }), { mode: 0o600 })

const read = async (globals: GlobalOptions, env: Record<string, string>): Promise<string | undefined> => {
  const { io } = createWorld({ cwd, env: { XDG_CONFIG_HOME: cwd, ...env }, stdin: `${inStdin}\n` })
  const { operatorKey } = await openProject({ cwd, globals, io })
  expect(operatorKey()).toBe(operatorKey())
  return await operatorKey()
}

const KEY = { SVC_OPERATOR_KEY: inEnv! }
const FILE = { SVC_OPERATOR_KEY_FILE: 'env.key' }

test.each<[string, GlobalOptions, Record<string, string>, string | undefined]>([
  ['nowhere', {}, {}, undefined],
  ['the variable', {}, { ...KEY, ...FILE }, inEnv],
  ['the file that a variable names', {}, FILE, inFile],
  ['the flag before the environment', { operatorKeyFile: 'flag.key', profile: 'prod' }, KEY, inFlag],
  ['standard input', { operatorKeyFile: '-' }, KEY, inStdin],
  ['the profile of the flag before the environment', { profile: 'prod' }, KEY, inProfile],
  ['the environment where that profile has none', { profile: 'bare' }, KEY, inEnv],
  ['the environment before the profile in it', {}, { ...KEY, SVC_PROFILE: 'prod' }, inEnv],
  ['the profile in the environment', {}, { SVC_PROFILE: 'prod' }, inProfile],
])('is found: %s', async (_, globals, env, expected) => {
  expect(await read(globals, env)).toBe(expected)
})

test.each<[string, GlobalOptions, Record<string, string>, string]>([
  ['an empty file', { operatorKeyFile: 'empty.key' }, KEY, 'usage'],
  ['a file that is not there', {}, { SVC_OPERATOR_KEY_FILE: 'none.key' }, 'usage'],
  ['what cannot be one', {}, { SVC_OPERATOR_KEY: 'ana@acme.example' }, 'invalid_operator_key'],
])('is refused: %s', async (_, globals, env, code) => {
  await expect(read(globals, env)).rejects.toMatchObject({ code })
})
