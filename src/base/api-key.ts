/**
 * The secret of an API key: `svc_`, 32 base62 characters of randomness (190 bits), 6 base62 characters of CRC32 over all
 * before them. Typos are detected without a query, and secret scanners can match it.
 * Source: docs/design/http.md#ids-and-numbers
 */
import { hash, randomBytes, randomFillSync } from 'node:crypto'
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

/** What a command keeps to itself, and the form of it that it shows. */
export function createCommandHalf(): { readonly half: string; readonly challenge: string } {
  const half = randomBytes(32).toString('base64url')
  return { half, challenge: challengeOf(half) }
}

const challengeOf = (half: string): string => hash('sha256', half, 'base64url')

/** What a store has of the credential of a command: nobody who sees the half that travels through a browser can use it. */
export const hashCommandHalves = (given: string, challenge: string): string => hashKey(`${given}.${challenge}`)

/** The credential of `svc login`: the half that the server gave, and the one that never left the command. */
export const joinCommandHalves = (given: string, half: string): string => `${given}.${half}`

/** @returns by what a store knows it; undefined for what is no credential of a command */
export function hashOfCommandCredential(text: string): string | undefined {
  const [given = '', half = '', ...more] = text.split('.')
  const isWellFormed = more.length === 0 && isWellFormedKey(given) && /^[\w-]{43}$/.test(half)
  return isWellFormed ? hashCommandHalves(given, challengeOf(half)) : undefined
}

/** Letters by which a person sees that a page is about the command they started. */
export function codeOfChallenge(challenge: string): string {
  const letters = hashKey(challenge).slice(0, 8).toUpperCase()
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

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
