import { createHash, randomFillSync } from 'node:crypto'
import type { Instant } from './clock.ts'

declare const brand: unique symbol
/** A UUID of one kind of entity; the types of two kinds do not mix. */
export type BrandedId<Of extends string> = string & { readonly [brand]: Of }

export type WorkspaceId = BrandedId<'workspace'>
export type AgentId = BrandedId<'agent'>
export type VersionId = BrandedId<'version'>
export type SessionId = BrandedId<'session'>
export type RunId = BrandedId<'run'>
export type StepId = BrandedId<'step'>
export type TaskId = BrandedId<'task'>
export type EventId = BrandedId<'event'>
export type FileId = BrandedId<'file'>
export type TriggerId = BrandedId<'trigger'>
export type KeyId = BrandedId<'key'>
export type DecisionId = BrandedId<'decision'>
export type PasskeyId = BrandedId<'passkey'>
export type ConsoleSessionId = BrandedId<'console'>

const DIGITS = Buffer.from('0123456789abcdef')
const text = Buffer.from('00000000-0000-0000-0000-000000000000')
/** Offsets of the two digits of each byte. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

// Written in place: appending two digits at a time would build thirty intermediate strings.
const format = (b: Uint8Array): string => {
  for (let at = 0; at < 16; at++) {
    text[PLACES[at]!] = DIGITS[b[at]! >> 4]!
    text[PLACES[at]! + 1] = DIGITS[b[at]! & 15]!
  }
  return text.toString('latin1')
}

/** Creates the ids of entities that are not derived from names. */
export interface IdSource {
  /** A new UUIDv7; later ids of one source sort after earlier ones. */
  next<T extends string>(): BrandedId<T>
}

/**
 * UUIDv7 from a clock and randomness. Within one millisecond, and when the clock steps back, a counter keeps the order.
 * @param random fills the given bytes; tests give a seeded one
 */
export function createIds(
  now: () => Instant,
  random: (bytes: Uint8Array) => void = (b) => void randomFillSync(b),
): IdSource {
  let last = 0
  let counter = 0
  // Random bytes are read in pages: reading 10 bytes costs as much as 4 KiB.
  const page = new Uint8Array(4096)
  let used = page.length
  const b = new Uint8Array(16)
  return {
    next<T extends string>() {
      const time = now()
      if (time > last) {
        last = time
        counter = 0
      } else if (++counter > 0xfff) {
        last++
        counter = 0
      }
      if (used + 8 > page.length) {
        random(page)
        used = 0
      }
      let high = last
      for (let at = 5; at >= 0; at--) {
        b[at] = high % 256
        high = Math.floor(high / 256)
      }
      b[6] = 0x70 | (counter >> 8)
      b[7] = counter & 0xff
      for (let at = 8; at < 16; at++) b[at] = page[used++]!
      b[8] = 0x80 | (b[8]! & 0x3f)
      return format(b) as BrandedId<T>
    },
  }
}

/** The id of the event of a step: the step id as version 8, so that it need not be stored. */
export const eventIdOf = (step: StepId): EventId => `${step.slice(0, 14)}8${step.slice(15)}` as EventId

/** Namespace of every name-based id of svc (a fixed random UUID). */
const NAMESPACE = '6f1d1f0e-5a2b-4c57-9f57-4d1a0c6c5d10'

/**
 * A UUIDv5 of the parts, in order: the same parts give the same id on every machine.
 * Parts are joined by NUL, which occurs in no name.
 */
export function nameBasedId<T extends string>(...parts: readonly string[]): BrandedId<T> {
  const hash = createHash('sha1')
    .update(Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(parts.join('\0'))
    .digest()
  hash[6] = 0x50 | (hash[6]! & 0x0f)
  hash[8] = 0x80 | (hash[8]! & 0x3f)
  return format(hash) as BrandedId<T>
}

export const workspaceIdOf = (workspace: string): WorkspaceId => nameBasedId('workspace', workspace)
export const agentIdOf = (workspace: string, id: string): AgentId => nameBasedId('agent', workspace, id)
export const versionIdOf = (workspace: string, id: string, digest: string): VersionId =>
  nameBasedId('version', workspace, id, digest)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)

/** The id of an agent that somebody names by its id or, as people do, by `namespace.name`; whether it exists is not asked. */
export const toAgentId = (workspace: string, reference: string): AgentId =>
  isUuid(reference) ? (reference.toLowerCase() as AgentId) : agentIdOf(workspace, reference)

/** The end of an id as the store searches for it: hexadecimal digits without dashes. */
export const toEnding = (text: string): string => text.replaceAll('-', '').toLowerCase()
