/**
 * Tokens with which work outside reports the end of a call. One names its run and has 192 random bits; only its digest is stored.
 * Source: docs/design/steering.md#waits-outside
 */
import { randomBytes } from 'node:crypto'
import type { RunId } from '../../base/ids.ts'

const PREFIX = 'svcc_'
const RUN_BYTES = 16
const RANDOM_BYTES = 24
const FORM = /^svcc_[A-Za-z0-9_-]{54}$/

export const createCompletionToken = (run: RunId): string =>
  PREFIX + Buffer.concat([Buffer.from(run.replaceAll('-', ''), 'hex'), randomBytes(RANDOM_BYTES)]).toString('base64url')

/** The run that a token names; undefined for text that is no token. */
export function runOfToken(token: string): RunId | undefined {
  if (!FORM.test(token)) return undefined
  const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url')
  if (bytes.length !== RUN_BYTES + RANDOM_BYTES) return undefined
  const hex = bytes.subarray(0, RUN_BYTES).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-') as RunId
}
