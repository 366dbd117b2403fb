/** Holds the access token of an MCP server in memory, and replaces it before it ends or where it is refused. */
import type { Clock } from '../../base/clock.ts'
import type { Redactor } from '../../base/secret.ts'

export interface TokenSource {
  /**
   * A token that does not end within the next moments.
   * @throws McpTokenError when none can be had
   */
  token(): Promise<string>
  /** The MCP server did not accept a token, so that the next one is asked for. False where that is what was just done. */
  refuse(token: string): boolean
}

export interface HeldToken {
  readonly token: string
  /** By `Clock.monotonic`; Infinity where the server does not say when it ends. */
  readonly renewAt: number
}

/** A token is replaced when this much of its life is left, but at most a minute before it ends. */
const SHARE_LEFT = 0.2
const MOST_LEFT_MS = 60_000

/** @param asked when the token was asked for, by `Clock.monotonic` */
export const renewalOf = (asked: number, lifeMs: number): number =>
  asked + lifeMs - Math.min(lifeMs * SHARE_LEFT, MOST_LEFT_MS)

/**
 * Concurrent calls wait for the same request.
 * @param isWithdrawn asked before a held token is given again
 */
export function createTokenSource(
  { clock, redactor }: { readonly clock: Clock; readonly redactor: Redactor },
  request: () => Promise<HeldToken>,
  isWithdrawn: () => Promise<boolean> = () => Promise.resolve(false),
): TokenSource {
  let held: HeldToken | undefined
  let asking: Promise<HeldToken> | undefined
  const ask = async (): Promise<HeldToken> => {
    const before = held?.token
    const next = await request()
    redactor.add(next.token)
    if (before !== undefined && before !== next.token) redactor.remove(before)
    return (held = next)
  }
  return {
    async token() {
      if (held && clock.monotonic() < held.renewAt && !(await isWithdrawn())) return held.token
      asking ??= ask().finally(() => (asking = undefined))
      return (await asking).token
    },
    refuse(token) {
      if (held?.token !== token) return true
      if (held.renewAt === REFUSED) return false
      held = { token, renewAt: REFUSED }
      return true
    },
  }
}

const REFUSED = -Infinity
