/**
 * `svc login` and `svc logout`: a session with a server for commands of operators, at the server's identity provider.
 * Source: docs/design/command-line.md#settings
 */
import { setTimeout } from 'node:timers/promises'
import { codeOfChallenge, createCommandHalf, isWellFormedKey, joinCommandHalves } from '../../../base/api-key.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { fail, isFailure } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject, parseJsonIfAny } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import { signalWithin } from '../../../base/signal-within.ts'
import { OPERATOR_KEY_HEADER } from '../../../operations/headers.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { serverLoginAnswer, serverLogoutAnswer } from '../../answers/serve.ts'
import { openBrowser } from '../../dev/open-console.ts'
import { listenForRedirect } from '../../login/await-redirect.ts'
import {
  forgetServerSession,
  keepServerSession,
  originOfServer,
  readServerSession,
} from '../../project/server/server-session.ts'
import { openProject } from '../../project/project.ts'
import { readServerFile } from '../../project/server/running-server.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { remoteError, RemoteError } from '../../../client/remote-error.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** For the person to sign in at the provider. */
const SIGN_IN_MS = 600_000
/** Between two questions whether a person has finished. */
const LEAST_WAIT_MS = 1000
const MOST_WAIT_MS = 60_000
/** What is added to it each time that the provider wants to be asked less often. */
const SLOWER_MS = 5000
/** For one answer of the server. */
const ANSWER_MS = 15_000
/** An answer of these routes is short. */
const MAX_ANSWER_CHARS = 64 * 1024

type LoginCall = CommandContext<ValueOf<typeof serverLoginAnswer>>

export async function login(call: LoginCall): Promise<void> {
  const server = await serverOf(call)
  const { provider } = await ask(call, server, 'GET', '/sign-in')
  if (typeof provider !== 'string') throw fail('sign_in_off')
  const parts = { call, server, provider, ...createCommandHalf() }
  const given = call.given.flag('device') ? await halfByDevice(parts) : await halfByBrowser(parts)
  await keep(call, server, joinCommandHalves(given, parts.half))
}

interface LoginParts {
  readonly call: LoginCall
  readonly server: string
  /** Its name. */
  readonly provider: string
  readonly challenge: string
}

async function halfByBrowser({ call, server, provider, challenge }: LoginParts): Promise<string> {
  const { given, out, signal } = call
  const port = wholeNumber(given.text('port'), 'port') ?? 0
  if (port > 65_535) throw usageFailure(`--port takes a number up to 65535, not ${port}.`)
  const listener = await listenForRedirect(port)
  try {
    const address = new URL('/sign-in/command', server)
    address.searchParams.set('port', new URL(listener.redirectUri).port)
    address.searchParams.set('challenge', challenge)
    out.message(safeText(`${server} signs you in with ${provider}. Its page must show ${codeOfChallenge(challenge)}:`))
    out.message(`  ${address.href}`)
    out.hint('waiting for the browser; Ctrl-C ends. Without a browser here: svc login --device')
    if (given.choice('open') !== false) openBrowser(address.href)
    const halfOf = (query: URLSearchParams): string => query.get('half') ?? ''
    const isAnswer = (query: URLSearchParams): boolean => isWellFormedKey(halfOf(query))
    return halfOf(await listener.next(isAnswer, signalWithin(SIGN_IN_MS, signal)))
  } finally {
    listener.close()
  }
}

/** The person finishes in a browser elsewhere, and the server is asked until then. */
async function halfByDevice({ call, server, provider, challenge }: LoginParts): Promise<string> {
  const { out, io, signal } = call
  const begun = await ask(call, server, 'POST', '/sign-in/device', { body: {} })
  const { deviceCode, userCode, address, expiresInSeconds, intervalSeconds } = begun
  if (typeof deviceCode !== 'string' || typeof userCode !== 'string' || typeof address !== 'string')
    throw fail('no_server', { url: server }, { fix: 'It answered as no server of this version does.' })
  out.message(safeText(`${provider} signs you in on any device. Its page must show ${userCode}:`))
  out.message(`  ${safeText(address)}`)
  out.hint('waiting for you to finish there; Ctrl-C ends')
  const ends = io.clock.now() + Math.min(Number(expiresInSeconds) * 1000 || SIGN_IN_MS, SIGN_IN_MS)
  let everyMs = waitBetween(Number(intervalSeconds) * 1000 || 0)
  let outage: Error | undefined
  while (io.clock.now() < ends) {
    await setTimeout(everyMs, undefined, { signal })
    const answer = await ask(call, server, 'POST', '/sign-in/device', { body: { deviceCode, challenge } }).catch(
      (error: unknown) => {
        // The code is good until its time is over, and so is what the person did with it meanwhile.
        if (!isOutage(error)) throw error
        outage = error
      },
    )
    if (!answer) continue
    outage = undefined
    const { half, isTooFast } = answer
    if (typeof half === 'string' && isWellFormedKey(half)) return half
    // Source: RFC 8628, 3.5.
    if (isTooFast === true) everyMs = waitBetween(everyMs + SLOWER_MS)
  }
  throw outage ?? fail('sign_in_refused', { why: 'nobody finished it in time' }, { fix: 'svc login --device' })
}

const waitBetween = (ms: number): number => Math.min(Math.max(ms, LEAST_WAIT_MS), MOST_WAIT_MS)

/** Neither the server nor the provider said no. */
const isOutage = (error: unknown): error is Error =>
  error instanceof RemoteError ? error.status === 429 || error.status >= 500 : isFailure(error, 'no_server')

async function keep({ io, mode, out, signal }: LoginCall, server: string, credential: string): Promise<void> {
  const status = await ask({ io, signal }, server, 'GET', '/status', { credential })
  const { operator, roles, signIn } = fromJson<OperatorAnswer<'GET /status'>>(status, 'operator', 'roles')
  const endsAt = signIn?.endsAt ?? null
  const kept = keepServerSession({ server, operator, credential, endsAt }, io.env)
  if (mode.json) return await out.json({ server, operator, roles, may: signIn?.may ?? null, endsAt, kept })
  out.line(safeText(`signed in to ${server} as ${operator}${endsAt === null ? '' : `, until ${endsAt}`}`))
  if (signIn) out.message(safeText(describeRights(signIn)))
  return undefined
}

function describeRights({ may, groups, earlierGroups }: NonNullable<OperatorAnswer<'GET /status'>['signIn']>): string {
  const before = earlierGroups === null ? '' : ` They were ${earlierGroups.join(', ')} before.`
  return `You may ${may} there, by your groups ${groups.join(', ')}.${before}`
}

/** The file is gone, whether or not the server answers. */
export async function logout(call: CommandContext<ValueOf<typeof serverLogoutAnswer>>): Promise<void> {
  const { mode, out, io } = call
  const server = await serverOf(call)
  const session = readServerSession(server, io.env)
  const erased = forgetServerSession(server, io.env)
  const ended =
    session !== undefined &&
    (await ask(call, server, 'POST', '/sign-out/command', session).then(
      ({ signedOut }) => signedOut === true,
      () => false,
    ))
  if (mode.json) return await out.json({ server, erased, ended })
  if (!erased) return out.line(safeText(`nobody was signed in to ${server}`))
  out.line(safeText(`signed out of ${server}`))
  if (!ended) out.message(safeText(`${server} did not confirm it: the session ends there when its time is over.`))
  return undefined
}

/**
 * The operator listener that is meant: the argument, `--url`, `SVC_HOST` or the profile, else the server of this project.
 * @throws Failure `usage`, `no_server`
 */
async function serverOf(call: Pick<CommandContext, 'given' | 'cwd' | 'globals' | 'io'>): Promise<string> {
  const project = await openProject(call)
  const named = call.given.argument(0) ?? project.operatorUrl ?? project.target?.host
  if (named !== undefined) {
    const origin = originOfServer(named)
    if (origin !== undefined) return origin
    throw usageFailure(`${showAddress(named)} is no https address, and your session would travel in clear.`)
  }
  const running = await readServerFile(project.dataDirectory)
  if (!running) throw fail('no_server', { url: project.dataDirectory }, { fix: 'svc login https://ADDRESS' })
  if (running.consoleUrl === null) throw fail('console_off')
  return running.consoleUrl
}

/** @throws Failure `no_server`, RemoteError */
async function ask(
  { io, signal }: Pick<CommandContext, 'io' | 'signal'>,
  server: string,
  method: 'GET' | 'POST',
  path: string,
  { credential, body = {} }: { readonly credential?: string; readonly body?: JsonObject } = {},
): Promise<JsonObject> {
  const response = await io
    .fetch(new URL(path, server).href, {
      method,
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...(credential !== undefined && { [OPERATOR_KEY_HEADER]: credential }),
        // As the page of the server itself: no other site can send these.
        ...(method === 'POST' && { 'content-type': 'application/json', 'x-svc-console': '1', origin: server }),
      },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
      signal: signalWithin(ANSWER_MS, signal),
    })
    .catch((cause: unknown) => {
      throw fail('no_server', { url: server }, { cause, fix: 'Check the address of its operator listener.' })
    })
  const text = (await response.text()).slice(0, MAX_ANSWER_CHARS)
  if (!response.ok) throw remoteError(response.status, `${method} ${path}`, text)
  const value = parseJsonIfAny(text)
  if (isJsonObject(value)) return value
  throw fail(
    'usage',
    { what: `Operators are not served at ${server}.` },
    { fix: 'Name the operator listener: consoleUrl in the log of svc serve --console.' },
  )
}
