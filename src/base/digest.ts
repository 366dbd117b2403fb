import { hash } from 'node:crypto'
import { canonicalJson } from './json/json.ts'

/** `sha256:` and 64 hexadecimal digits: the identity of bytes or of a JSON value. */
export type Digest = `sha256:${string}`

/** Digest of bytes, or of text as UTF-8. */
export const digestOf = (bytes: string | Uint8Array): Digest => `sha256:${hash('sha256', bytes)}`

/** Digest of a JSON value's canonical text (RFC 8785). */
export const digestOfJson = (value: unknown): Digest => digestOf(canonicalJson(value))
