/**
 * The secret of an API key: `svc_`, 32 base62 characters of randomness (190 bits), 6 base62 characters of CRC32 over all
 * before them. Typos are detected without a query, and secret scanners can match it.
 * Source: docs/design/http.md#ids-and-numbers
 */
import { hash, randomFillSync } from 'node:crypto'
import { crc32 } from 'node:zlib'

const PREFIX = 'svc_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECK_LENGTH = 6
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECK_LENGTH}}$`)

/** @param random fills the given bytes; tests give a seeded one */
export function createApiKeySecret(
  random: (bytes: Uint8Array) => void = (bytes) => void randomFillSync(bytes),
): string {
  let text = PREFIX
  const bytes = new Uint8Array(64)
  while (text.length < PREFIX.length + RANDOM_LENGTH) {
    random(bytes)
    for (const byte of bytes) {
      // 248 is the largest multiple of 62 in a byte: larger values would favour the first characters.
      if (byte < 248 && text.length < PREFIX.length + RANDOM_LENGTH) text += ALPHABET[byte % 62]
    }
  }
  return text + checksum(text)
}

/** True when length, characters and checksum fit; says nothing about whether the key exists. */
export const isWellFormedKey = (text: string): boolean =>
  SHAPE.test(text) && checksum(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH)

/** SHA-256, hexadecimal: the only form in which a key is stored. */
export const hashKey = (secret: string): string => hash('sha256', secret)

/** First characters, for lists. */
export const keyPrefixOf = (secret: string): string => secret.slice(0, PREFIX.length + 4)

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let at = 0; at < CHECK_LENGTH; at++) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
