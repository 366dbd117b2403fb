/** An MCP server of a source, as an entry of `spec.mcp_servers` and, for a program, of the project file. Secrets are named, never written. */
import { cutText } from '../../base/text/cut-text.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import { findCredential, looksLikeValue } from '../../documents/text/credentials.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { quoteForeign } from '../foreign-text.ts'
import type { ConfigEntry } from '../import-plan.ts'
import type { LossList } from '../losses.ts'
import { toToolName, withDigest } from '../openapi-document.ts'
import type { ForeignServer } from './foreign-project.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface PlannedServer {
  /** Entry of `spec.mcp_servers`. */
  readonly entry: JsonObject
  /** Entries of `secrets`. */
  readonly secrets: JsonObject
  readonly config: readonly ConfigEntry[]
  /** What the source spells out, by the variable that stands in its place. No document gets it. */
  readonly values: Readonly<Record<string, string>>
}

/** Names of servers in documents: two servers of one name that differ get different ones, so no call goes to the other. */
export class ServerNames {
  readonly #names = new Map<string, string>()

  nameOf({ name, url, headers, command, environment }: ForeignServer): string {
    const plain = toToolName(name) || 'server'
    const signature = JSON.stringify([plain, url, headers, command, environment])
    const known = this.#names.get(signature)
    if (known !== undefined) return known
    const isTaken = plain.length > MAX_NAME || [...this.#names.values()].includes(plain)
    const own = isTaken ? withDigest(cutText(plain, MAX_NAME).text, signature) : plain
    this.#names.set(signature, own)
    return own
  }
}

const MAX_NAME = 30

/** @param keepsValues the caller keeps what the source spells out where the variables are read, so that it is no loss */
export function planServer(
  server: ForeignServer,
  name: string,
  { namespace, losses, keepsValues = false }: ServerPlanOptions,
): PlannedServer {
  const lose = (what: string, authority = true): void => losses.add(server.at, what, authority)
  const loseValue = keepsValues ? (): void => undefined : lose
  const absent = `https://${name.replaceAll('_', '-')}.${namespace.replaceAll(/[._]/g, '-')}.invalid/mcp`
  if (server.command) {
    const found = programOf(server, server.command, lose, loseValue)
    const config = found
      ? [{ at: ['mcp_servers', absent], value: found.program, compared: [['command']] } satisfies ConfigEntry]
      : []
    return { entry: { name, url: absent }, secrets: {}, config, values: found?.values ?? {} }
  }
  const url = addressOf(server.url, lose)
  const { auth, secrets, values } = authOf(server, name, namespace, lose, loseValue)
  if (url === undefined) return { entry: { name, url: absent }, secrets: {}, config: [], values: {} }
  return { entry: { name, url, ...(auth && { auth }) }, secrets, config: [], values }
}

export interface ServerPlanOptions {
  readonly namespace: string
  readonly losses: LossList
  readonly keepsValues?: boolean
}

type Lose = (what: string, authority?: boolean) => void

/** Undefined where the address cannot be written as it is. */
function addressOf(given: string | undefined, lose: Lose): string | undefined {
  if (given === undefined || /\$\{|\$[A-Z_]/.test(given) || parseUrl(given) === undefined) {
    lose(
      given === undefined
        ? 'has neither an address nor a program: write its `url`'
        : 'its address depends on variables: write it as `url`',
    )
    return undefined
  }
  const url = new URL(given)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    lose(`its address is ${url.protocol.slice(0, -1)}, not https: write one that is as \`url\``)
    return undefined
  }
  if (url.username !== '' || url.password !== '') lose('user and password of its address are left out')
  url.username = url.password = url.hash = ''
  for (const [key, value] of Object.entries(Object.fromEntries(url.searchParams)))
    if (SECRET_NAME.test(key) || looksLikeValue(value)) {
      url.searchParams.delete(key)
      lose(`the parameter ${quoteForeign(key)} of its address may be a secret and is left out`)
    }
  return url.href
}

/** One header can carry a secret; the first that is one is taken. */
function authOf(
  { headers = {} }: ForeignServer,
  name: string,
  namespace: string,
  lose: Lose,
  loseValue: Lose,
): { readonly auth?: JsonObject; readonly secrets: JsonObject; readonly values: Record<string, string> } {
  const entries = Object.entries(headers)
  const chosen =
    entries.find(([key]) => key.toLowerCase() === 'authorization') ??
    entries.find(([, value]) => referencedVariable(value) !== undefined) ??
    entries.find(([key]) => SECRET_NAME.test(key))
  for (const [key] of entries) if (key !== chosen?.[0]) lose(`the header ${quoteForeign(key)} is not sent`)
  if (!chosen) return { secrets: {}, values: {} }
  const [header, value] = chosen
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(header)) {
    lose(`the header ${quoteForeign(header)} has no valid name and is not sent`)
    return { secrets: {}, values: {} }
  }
  const isBearer = header.toLowerCase() === 'authorization' && /^bearer\s/i.test(value)
  const given = isBearer ? value.replace(/^bearer\s+/i, '') : value
  const variable = referencedVariable(given)
  const secret = `${name}_token`
  const fallback = `${namespace}_${name}_token`.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()
  const isTaken = variable !== undefined && isSetForOthers(variable)
  if (isTaken)
    lose(
      `the header ${quoteForeign(header)} would send ${variable}, which is set for something else: set ${fallback} in its place`,
    )
  else if (variable === undefined)
    loseValue(`the value of the header ${quoteForeign(header)} is not written: set ${fallback} in its place`)
  else if (/:-/.test(value))
    lose(`the value that the header ${quoteForeign(header)} has without ${variable} is not carried`)
  return {
    auth: isBearer ? { scheme: 'bearer', secret } : { scheme: 'header', header, secret },
    secrets: { [secret]: { fromEnv: variable === undefined || isTaken ? fallback : variable } },
    values: variable === undefined ? { [fallback]: given } : {},
  }
}

const SECRET_NAME = /key|token|secret|passw|auth|credential|signature|cookie|session/i

/** The source chooses where a secret is sent: it must not name the keys of models, of a cloud or of svc itself. */
export const isSetForOthers = (variable: string): boolean =>
  /^(?:SVC|AWS|AZURE|GOOGLE|GCP|GEMINI|ANTHROPIC|OPENAI|OPENAPI|DATABASE|PG)(?:_|$)|^(?:PATH|HOME|NODE_OPTIONS)$/i.test(
    variable,
  )

/** The variable that a value consists of: `${NAME}`, `${env.NAME}`, `${NAME:-default}`, `$NAME`. */
export function referencedVariable(value: string): string | undefined {
  const match = /^\s*(?:\$\{(?:env\.)?([A-Za-z_]\w*)(?::-[^{}]*)?\}|\$([A-Za-z_]\w*))\s*$/.exec(value)
  return match?.[1] ?? match?.[2]
}

/** Undefined where the program cannot be carried without a secret or a variable in its arguments. */
function programOf(
  server: ForeignServer,
  command: readonly string[],
  lose: Lose,
  loseValue: Lose,
): { readonly program: JsonObject; readonly values: Record<string, string> } | undefined {
  const [index] = command.flatMap((argument, at) => (isSecretArgument(command, argument, at) ? [at] : []))
  if (index !== undefined || command.some((each) => /\$\{/.test(each))) {
    lose(
      index !== undefined
        ? `argument ${index} of its program may be a secret: write its command in svc.config.yaml, with the secret in \`env\``
        : 'its program depends on variables: write its command in svc.config.yaml',
    )
    return undefined
  }
  const values: Record<string, string> = {}
  const names = Object.entries(server.environment ?? {}).flatMap(([key, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) {
      lose(`the variable ${quoteForeign(key)} has no valid name and is not passed`)
      return []
    }
    const from = referencedVariable(value)
    if (isSetForOthers(key)) lose(`its program gets ${key}, which may be set for something else`)
    if (from === undefined) {
      // Where it is kept, it would be taken for the other thing, too.
      if (!isSetForOthers(key)) values[key] = value
      const report = isSetForOthers(key) ? lose : loseValue
      report(`the value of ${key} is not written: set ${key} where the server runs`, isSecretVariable(key, value))
    } else if (from !== key) lose(`${key} had the value of ${from}: set ${key} where the server runs`, false)
    return [key]
  })
  const { directory } = server
  const program = {
    command: [...command],
    ...(names.length > 0 && { env: names }),
    ...(directory !== undefined && { directory }),
  }
  return { program, values }
}

const isSecretVariable = (key: string, value: string): boolean => SECRET_NAME.test(key) || looksLikeValue(value)

/** `--token VALUE`, `--token=VALUE`, `NAME_KEY=VALUE`, a value that looks like a credential, or an address with a password. */
function isSecretArgument(command: readonly string[], argument: string, at: number): boolean {
  const before = command[at - 1]
  const assigned = /^-{0,2}([\w.-]+)[=:]\s*(?!\$)\S/.exec(argument)
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(argument)
  return (
    findCredential(argument) !== undefined ||
    /^[a-z][a-z0-9+.-]*:\/\/[^/\s]*@/i.test(argument) ||
    (!isAddress && assigned !== null && SECRET_NAME.test(assigned[1]!)) ||
    (before !== undefined && /^--?[\w-]+$/.test(before) && SECRET_NAME.test(before) && !argument.startsWith('-')) ||
    before === '-H' ||
    before === '--header' ||
    (!isAddress && !/[/@\\]/.test(argument) && looksLikeValue(argument) && /\d/.test(argument))
  )
}
