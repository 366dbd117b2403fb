/**
 * Named servers, how to reach them (`--profile`, `SVC_PROFILE`, `SVC_HOST`), and the keys that are shown to them.
 * Source: docs/design/command-line.md#settings
 */
import { join, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { CommandContext } from '../shell/command.ts'
import { statIfAny, readTextIfAny } from '../../base/files/sync-files.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import { userDirectory } from './user-config.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/** Another server than the one of this data directory. */
export interface RemoteProfile {
  /** Absent for `SVC_HOST`. */
  readonly name?: string
  readonly url?: string
  /** `ssh://…` of the operator channel. */
  readonly host?: string
  /** @throws Failure `usage` where the file or variable of the key is empty */
  readonly key?: () => Promise<string | undefined>
  /** The credential of its operator channel. */
  readonly operatorKey?: () => Promise<string | undefined>
}

/** Undefined for the local data directory. @throws Failure `usage` for an unknown profile */
export function readProfile(
  { globals, io: { env } }: Pick<CommandContext, 'globals' | 'io'>,
  { profiles = {} }: ProjectConfig,
  directory: string,
): RemoteProfile | undefined {
  const name = globals.profile ?? (env['SVC_PROFILE'] || undefined)
  if (name === undefined) return env['SVC_HOST'] ? { host: env['SVC_HOST'] } : undefined
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!profile) {
    const create = `svc config set profiles.${name}.url https://… --user`
    const fix = suggestWord(name, Object.keys(profiles), create)
    throw usageFailure(`There is no profile "${name}".`, fix)
  }
  // --profile overrides SVC_HOST; SVC_PROFILE does not.
  const host = globals.profile === undefined ? env['SVC_HOST'] || profile.host : profile.host
  return {
    name,
    ...(profile.url !== undefined && { url: profile.url }),
    ...(host !== undefined && { host }),
    key: async () => {
      if (profile.key_file !== undefined) return keyOfFile(resolve(directory, profile.key_file))
      if (profile.key_env !== undefined) return readKeyVariable(profile.key_env, env)
      return readStoredKey(name, 'key', env)
    },
    operatorKey: async () => readStoredKey(name, 'operator_key', env),
  }
}

/** @throws Failure `usage` where there is none */
function keyOfFile(file: string): string {
  const text = readTextIfAny(file)
  if (text.trim() === '') throw usageFailure(`There is no key in ${file}.`)
  return text.trim()
}

function readKeyVariable(name: string, env: CommandContext['io']['env']): string {
  const key = env[name]?.trim()
  if (!key) throw usageFailure(`The environment variable ${name}, which should hold the key, is not set.`)
  return key
}

/**
 * Reads `credentials.json` beside the user's configuration: `{"<profile>": {"key": "svc_…", "operator_key": "svc_…"}}`.
 * Only its owner may have access.
 */
function readStoredKey(
  profile: string,
  which: 'key' | 'operator_key',
  env: CommandContext['io']['env'],
): string | undefined {
  const file = join(userDirectory(env), 'credentials.json')
  const found = statIfAny(file)
  if (!found) return undefined
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw usageFailure(`${file} can be read by others.`, `chmod 600 ${file}`)
  const credentials = readJson(readTextIfAny(file), file)
  const entry = isJsonObject(credentials) && Object.hasOwn(credentials, profile) ? credentials[profile] : undefined
  const key = isJsonObject(entry) ? entry[which] : undefined
  return typeof key === 'string' ? key : undefined
}

function readJson(text: string, file: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    throw fail('config_invalid', { what: `${file} is not valid JSON: ${(error as Error).message}.` })
  }
}

type KeyRequest = Pick<CommandContext, 'cwd' | 'globals' | 'io'>

/**
 * Reads the credential once, on first use: from `--operator-key-file`, `SVC_OPERATOR_KEY`, `SVC_OPERATOR_KEY_FILE`, then the
 * profile, then the session of `svc login` with the server that is named; the key of a profile named by its flag comes before the environment. Undefined if there is none.
 * @throws Failure `usage` if the named place is empty, `invalid_operator_key` for a malformed key
 */
export function findOperatorKey(
  call: KeyRequest,
  target: RemoteProfile | undefined,
): () => Promise<string | undefined> {
  let found: Promise<string | undefined> | undefined
  return () => (found ??= readOperatorKey(call, target))
}

async function readOperatorKey(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const key = (await placedOperatorKey(call, target))?.trim()
  if (key === undefined) return undefined
  // Loaded on demand: most commands have no credential.
  const { hashOfCommandCredential, isWellFormedKey } = await import('../../base/api-key.ts')
  if (!isWellFormedKey(key) && hashOfCommandCredential(key) === undefined) throw fail('invalid_operator_key')
  return key
}

async function placedOperatorKey(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const { cwd, globals, io } = call
  if (globals.operatorKeyFile !== undefined) return await keyIn(call, globals.operatorKeyFile)
  const profileKey = await target?.operatorKey?.()
  if (profileKey !== undefined && globals.profile !== undefined) return profileKey
  if (io.env['SVC_OPERATOR_KEY']) return io.env['SVC_OPERATOR_KEY']
  const file = io.env['SVC_OPERATOR_KEY_FILE']
  return file ? keyOfFile(resolve(cwd, file)) : (profileKey ?? (await keyOfLogin(globals.url ?? target?.host, io.env)))
}

/** Of `svc login` with the server that is named. */
async function keyOfLogin(address: string | undefined, env: CommandContext['io']['env']): Promise<string | undefined> {
  if (address === undefined || !/^https?:/.test(address)) return undefined
  const { originOfServer, readServerSession } = await import('./server/server-session.ts')
  const server = originOfServer(address)
  return server === undefined ? undefined : readServerSession(server, env)?.credential
}

/** @param file `-` is standard input @throws Failure `usage` if it is empty */
async function keyIn({ cwd, io }: Pick<CommandContext, 'cwd' | 'io'>, file: string): Promise<string> {
  if (file !== '-') return keyOfFile(resolve(cwd, file))
  const text = (await io.stdin.text()).trim()
  if (text === '') throw usageFailure('There is no key in standard input.')
  return text
}

/**
 * Reads the key of the API once, on first use: from `--key-file`, `SVC_API_KEY`, `SVC_KEY_FILE`, then the profile; a profile that was named by
 * its flag comes before the environment. Undefined if there is none, or where an operator's credential is given as a flag and no key is.
 */
export function findApiKey(call: KeyRequest, target: RemoteProfile | undefined): () => Promise<string | undefined> {
  let found: Promise<string | undefined> | undefined
  return () => (found ??= readApiKey(call, target))
}

async function readApiKey(call: KeyRequest, target: RemoteProfile | undefined): Promise<string | undefined> {
  const { globals, io } = call
  if (globals.keyFile !== undefined) return await keyIn(call, globals.keyFile)
  if (globals.operatorKeyFile !== undefined) return undefined
  if (globals.profile !== undefined && target?.key) return await target.key()
  if (io.env['SVC_API_KEY']) return io.env['SVC_API_KEY']
  const file = io.env['SVC_KEY_FILE']
  return file ? await keyIn(call, file) : await target?.key?.()
}

/** The address of the API from the flag, the environment or the profile. */
export const findApiUrl = (
  { globals, io }: Pick<CommandContext, 'globals' | 'io'>,
  target: RemoteProfile | undefined,
): string | undefined => globals.url ?? (globals.profile === undefined ? io.env['SVC_URL'] || target?.url : target?.url)
