/**
 * Every way by which a secret of the environment enters a server, other than the `secrets` of agents: the server redacts the
 * values of all these variables from its start on, and `svc secrets list` shows them.
 */
import type { Redactor } from '../../base/secret.ts'
import type { ProjectConfig } from './config.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface SecretVariable {
  readonly env: string
  /** `tool acme.refunds`, `store`. */
  readonly usedBy: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

interface SecretUse {
  readonly env: string
  readonly usedBy: string
}

/** Another way is one more line. */
const WAYS: readonly ((config: ProjectConfig) => readonly SecretUse[])[] = [
  // A program gets these variables whole, and may print any of them.
  ({ tools = {} }) =>
    Object.entries(tools).flatMap(([id, route]) =>
      'env' in route && route.env !== undefined ? route.env.map((env) => ({ env, usedBy: `tool ${id}` })) : [],
    ),
  ({ tools = {} }) =>
    Object.entries(tools).flatMap(([id, route]) => {
      const ofOpenApi = 'openapi' in route ? route.openapi.headers : undefined
      const { headers = {} } = 'http' in route ? route.http : { headers: ofOpenApi }
      return Object.values(headers)
        .flatMap((value) => value.match(/(?<=\$\{)[A-Za-z_]\w*(?=\})/g) ?? [])
        .map((env) => ({ env, usedBy: `tool ${id}` }))
    }),
  ({ tools = {} }) =>
    Object.entries(tools).flatMap(([id, route]) =>
      'openapi' in route
        ? Object.values(route.openapi.security ?? {}).map(({ fromEnv: env }) => ({ env, usedBy: `tool ${id}` }))
        : [],
    ),
  ({ providers = {} }) =>
    Object.entries(providers).flatMap(([name, { key }]) =>
      key === undefined ? [] : [{ env: key.fromEnv, usedBy: `model ${name}` }],
    ),
  ({ notify }) =>
    Object.entries(notify?.channels ?? {}).flatMap(([name, { webhook, env = [], email, slack, teams }]) =>
      [...(webhook?.secrets ?? []), email?.server, slack?.token, slack?.signing_secret, teams?.url]
        .flatMap((each) => (each ? [each.fromEnv] : []))
        .concat(env)
        .map((each) => ({ env: each, usedBy: `channel ${name}` })),
    ),
  ({ sign_in: signIn }) =>
    signIn?.client_secret !== undefined && 'fromEnv' in signIn.client_secret
      ? [{ env: signIn.client_secret.fromEnv, usedBy: 'sign-in' }]
      : [],
  () => [
    { env: 'SVC_STORE', usedBy: 'store' },
    { env: 'SVC_CLUSTER_SECRET', usedBy: 'peers' },
    { env: 'SVC_OPERATOR_KEY', usedBy: 'command line' },
    { env: 'SVC_API_KEY', usedBy: 'command line' },
  ],
  ({ storage }) =>
    storage?.url === undefined
      ? []
      : ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map((env) => ({ env, usedBy: 'storage' })),
]

/** Variables that programs often get and that are no secret: their values stand in ordinary text. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_ENV',
  'LOG_LEVEL',
])

/** Each variable once, with all that use it. */
export function listSecretVariables(config: ProjectConfig): readonly SecretVariable[] {
  const uses = new Map<string, string[]>()
  for (const { env, usedBy } of WAYS.flatMap((way) => way(config))) {
    if (NO_SECRETS.has(env)) continue
    const others = uses.get(env) ?? []
    if (!others.includes(usedBy)) uses.set(env, [...others, usedBy])
  }
  return [...uses].map(([env, usedBy]) => ({ env, usedBy }))
}

/** Redacts the values of these variables, and the password in one that is an address. */
export function redactVariables(
  redactor: Redactor,
  variables: readonly SecretVariable[],
  environment: Environment,
): void {
  for (const { env } of variables) {
    const value = environment[env]
    if (value === undefined) continue
    redactor.add(value)
    const url = parseUrl(value)
    if (url === undefined) continue
    const { password, searchParams } = url
    for (const part of [password, searchParams.get('password') ?? '']) {
      if (part === '') continue
      redactor.add(part)
      try {
        redactor.add(decodeURIComponent(part))
      } catch {
        // It is no percent-encoding: it was added as it is.
      }
    }
  }
}
