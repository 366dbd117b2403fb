/** The credential with which a person speaks to the operator application. Source: command line, 1.5 and 2.2. */
import { resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { CommandContext } from '../shell/command.ts'
import { keyOfFile, type RemoteProfile } from './profile.ts'

type KeyRequest = Pick<CommandContext, 'cwd' | 'globals' | 'io'>

/**
 * Looks once, when it is first asked: `--operator-key-file`, `SVC_OPERATOR_KEY`, `SVC_OPERATOR_KEY_FILE`, then the profile's;
 * what is kept for a profile that was named by its flag comes before the environment. Undefined where there is none.
 * @throws Failure `usage` where the place that should hold it is empty, `invalid_operator_key` for what cannot be one
 */
export function createOperatorKey(
  call: KeyRequest,
  target: RemoteProfile | undefined,
): () => Promise<string | undefined> {
  let found: Promise<string | undefined> | undefined
  return () => (found ??= read(call, target))
}

async function read(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const key = (await find(call, target))?.trim()
  if (key === undefined) return undefined
  // Most commands have none.
  const { isWellFormedKey } = await import('../../base/api-key.ts')
  if (!isWellFormedKey(key)) throw fail('invalid_operator_key')
  return key
}

async function find(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const { cwd, globals, io } = call
  if (globals.operatorKeyFile !== undefined) return await keyIn(call, globals.operatorKeyFile)
  const kept = await target?.operatorKey?.()
  if (kept !== undefined && globals.profile !== undefined) return kept
  if (io.env['SVC_OPERATOR_KEY']) return io.env['SVC_OPERATOR_KEY']
  const file = io.env['SVC_OPERATOR_KEY_FILE']
  return file ? keyOfFile(resolve(cwd, file)) : kept
}

/** @param file `-` is standard input @throws Failure `usage` where there is none */
export async function keyIn({ cwd, io }: Pick<CommandContext, 'cwd' | 'io'>, file: string): Promise<string> {
  if (file !== '-') return keyOfFile(resolve(cwd, file))
  const text = (await io.stdin.text()).trim()
  if (text === '') throw fail('usage', { what: 'There is no key in standard input.' })
  return text
}
