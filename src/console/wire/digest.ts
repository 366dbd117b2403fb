/** Digests as the server makes them (`base/digest.ts`), by the browser's own cryptography. */
import { canonicalJson } from '../../base/json/json.ts'

/** `sha256:` and the digest of a JSON value's canonical text. */
export async function digestInBrowser(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(value)))
  return `sha256:${[...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The first and last digits in groups of four, for people to compare; the whole digest stands in the title. */
export const shortDigest = (digest: string): string =>
  digest.replace(/^sha256:/, '').replace(/^(.{4})(.{4})(.{4}).*(.{4})$/, '$1 $2 $3 … $4')
