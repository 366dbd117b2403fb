/**
 * Logins kept by a program of the operator, such as one that asks a vault: `COMMAND get|store|erase NAME`. `get` prints what `store`
 * read from stdin, or nothing.
 */
import { systemClock } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { isJsonObject, parseJson, type JsonValue } from '../../base/json/json.ts'
import { createRedactor } from '../../base/secret.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import { runProgram } from '../command.ts'
import { createLoginFiles, type LoginKeeper } from './login-keeper.ts'
import { readMcpLogin } from './login.ts'
import type { LoginStore } from './login-tokens.ts'

export interface LoginStoreParts {
  readonly config: Pick<ProjectConfig, 'mcp_logins'>
  /** Absolute directory of the config file. */
  readonly configDir: string
  readonly dataDirectory: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** In files of the data directory, or by the command that the project file names. */
export function openLoginStore(parts: LoginStoreParts): LoginStore {
  const { config, dataDirectory } = parts
  const keeper = config.mcp_logins ? createLoginCommand(config.mcp_logins, parts) : createLoginFiles(dataDirectory)
  return { keeper, dataDirectory }
}

/** Shorter than others wait for a lock. */
const COMMAND_MS = 10_000

function createLoginCommand(
  { command, env: allow = [] }: NonNullable<ProjectConfig['mcp_logins']>,
  { configDir: cwd, env }: LoginStoreParts,
): LoginKeeper {
  const [program = ''] = command
  const run = async (verb: 'get' | 'store' | 'erase', name: string, input = ''): Promise<string> => {
    // What it prints is a secret, so nothing of its output is shown but the end of stderr.
    const redactor = createRedactor()
    const argv = [...command, verb, name]
    const parts = { argv, cwd, env, allow, timeoutMs: COMMAND_MS, clock: systemClock, redactor }
    const ended = await runProgram(parts, input, new AbortController().signal)
    if (ended.at !== 'ended') throw new Error(ended.error)
    if (ended.exitCode === 0) return ended.stdout.toString('utf8').trim()
    const said = ended.stderr.trim()
    throw new Error(
      `${program} ${verb} exited with ${ended.exitCode}${said === '' ? '' : `: ${shortenText(said, 200)}`}`,
    )
  }
  return {
    isLocal: false,
    placeOf: () => `by ${program}`,
    async read(name) {
      const text = await run('get', name)
      if (text === '') return undefined
      const login = readMcpLogin(parseAnswer(text))
      if (!login) throw new Error(`${program} get printed no login of svc`)
      return login
    },
    async write(name, login) {
      await run('store', name, `${JSON.stringify(login)}\n`)
    },
    async erase(name) {
      await run('erase', name)
    },
  }
}

function parseAnswer(text: string): JsonValue {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
