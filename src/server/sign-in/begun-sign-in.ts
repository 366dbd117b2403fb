/**
 * A sign-in that a browser has begun. Everything about it is in one cookie of ten minutes, so that any process of the store can finish it,
 * and nobody fills a table by beginning: state, nonce and the secret of PKCE are derived from the cookie, which the provider never sees.
 * Source: docs/design/security.md#sign-in-for-teams
 */
import { createHmac, randomBytes } from 'node:crypto'
import { hashKey } from '../../base/api-key.ts'
import type { Instant } from '../../base/clock.ts'
import { isSameValue } from '../../tools/oauth/authorization-code.ts'

/** For a person to sign in at the provider. */
export const BEGUN_MS = 600_000

/** A command line that waits on a loopback address, and keeps the other half of its credential. */
export interface WaitingCommand {
  readonly port: number
  /** SHA-256 of its half, base64url. */
  readonly challenge: string
}

export interface BegunSignIn {
  /** Value of the cookie. */
  readonly cookie: string
  readonly begunAt: Instant
  readonly command: WaitingCommand | undefined
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** By which a store knows that it was finished. */
  readonly id: string
}

export function beginSignIn(now: Instant, command?: WaitingCommand): BegunSignIn {
  const random = randomBytes(32).toString('base64url')
  const parts = [now.toString(36), random, ...(command ? [String(command.port), command.challenge] : [])]
  return toBegun(parts.join('.'), now, command)
}

const CHALLENGE = '[\\w-]{43}'
const SHAPE = new RegExp(`^([0-9a-z]{1,11})\\.[\\w-]{43}(?:\\.(\\d{1,5})\\.(${CHALLENGE}))?$`)

export const isChallenge = (text: string): boolean => new RegExp(`^${CHALLENGE}$`).test(text)

/**
 * The sign-in of a cookie.
 * @param answer with which the browser came back from the provider
 * @returns why it does not count, as the end of a sentence
 */
export function readBegunSignIn(
  cookie: string | undefined,
  now: Instant,
  answer?: URLSearchParams,
): BegunSignIn | { readonly why: string } {
  const [, time = '', port, challenge] = SHAPE.exec(cookie ?? '') ?? []
  if (cookie === undefined || time === '') return { why: 'this browser did not begin it, or finished it already' }
  const begunAt = Number.parseInt(time, 36)
  const command = port === undefined || challenge === undefined ? undefined : { port: Number(port), challenge }
  const begun = toBegun(cookie, begunAt, command)
  if (answer && !isSameValue(answer.get('state') ?? '', begun.state))
    return { why: 'this browser has begun another one since, or the answer is for another browser' }
  // The time is part of what the state is derived from, so nobody sets it anew.
  if (now - begunAt > BEGUN_MS || begunAt - now > BEGUN_MS) return { why: 'it was begun more than ten minutes ago' }
  return begun
}

function toBegun(cookie: string, begunAt: Instant, command: WaitingCommand | undefined): BegunSignIn {
  const derive = (use: string): string => createHmac('sha256', cookie).update(use).digest('base64url')
  return {
    cookie,
    begunAt,
    command,
    state: derive('state'),
    nonce: derive('nonce'),
    verifier: derive('verifier'),
    id: hashKey(cookie),
  }
}
