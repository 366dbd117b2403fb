/**
 * The bytes of a text file with LF: what digests are of and what a bundle holds, so that a checkout with CR LF publishes the
 * same. Bytes that are no text stay as they are.
 */
export function withUnixLineEnds(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(CR) || bytes.includes(0)) return bytes
  return bytes.filter((byte, at) => byte !== CR || bytes[at + 1] !== LF)
}

const CR = 0x0d
const LF = 0x0a
