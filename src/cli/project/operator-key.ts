/** Finds the credential of a person for the operator application. Source: docs/design/command-line.md#settings */
import { resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { CommandContext } from '../shell/command.ts'
import { keyOfFile, type RemoteProfile } from './profile.ts'
import { usageFailure } from '../shell/usage-failure.ts'

type KeyRequest = Pick<CommandContext, 'cwd' | 'globals' | 'io'>

/**
 * Reads the credential once, on first use: from `--operator-key-file`, `SVC_OPERATOR_KEY`, `SVC_OPERATOR_KEY_FILE`, then the
 * profile; the key of a profile named by its flag comes before the environment. Undefined if there is none.
 * @throws Failure `usage` if the named place is empty, `invalid_operator_key` for a malformed key
 */
export function findOperatorKey(
  call: KeyRequest,
  target: RemoteProfile | undefined,
): () => Promise<string | undefined> {
  let found: Promise<string | undefined> | undefined
  return () => (found ??= read(call, target))
}

async function read(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const key = (await find(call, target))?.trim()
  if (key === undefined) return undefined
  // Loaded on demand: most commands have no credential.
  const { isWellFormedKey } = await import('../../base/api-key.ts')
  if (!isWellFormedKey(key)) throw fail('invalid_operator_key')
  return key
}

async function find(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const { cwd, globals, io } = call
  if (globals.operatorKeyFile !== undefined) return await keyIn(call, globals.operatorKeyFile)
  const profileKey = await target?.operatorKey?.()
  if (profileKey !== undefined && globals.profile !== undefined) return profileKey
  if (io.env['SVC_OPERATOR_KEY']) return io.env['SVC_OPERATOR_KEY']
  const file = io.env['SVC_OPERATOR_KEY_FILE']
  return file ? keyOfFile(resolve(cwd, file)) : profileKey
}

/** @param file `-` is standard input @throws Failure `usage` if it is empty */
export async function keyIn({ cwd, io }: Pick<CommandContext, 'cwd' | 'io'>, file: string): Promise<string> {
  if (file !== '-') return keyOfFile(resolve(cwd, file))
  const text = (await io.stdin.text()).trim()
  if (text === '') throw usageFailure('There is no key in standard input.')
  return text
}
