/** What credentials look like. Source: lint rules, secret/literal. */

/** Forms that vendors give their keys, so that scanners may find them. */
const FORMS: readonly RegExp[] = [
  /\bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{16,}/,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\bhf_[A-Za-z0-9]{20,}/,
  /\bnpm_[A-Za-z0-9]{30,}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/,
  /\bBearer [A-Za-z0-9._~+/-]{20,}/,
]

/** How each of the forms begins: most texts hold none of these. */
const BEGINNINGS = /\b(?:sk-|[rs]k_|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|hf_|npm_|eyJ|Bearer)|-----BEGIN/

/** Words of which one stands in every name that `NAMED` knows. */
const NAMES = /key|secret|token|passw/i
/** A run of characters as long as a named value, with a digit in it. */
const LONG_RUN = /(?<![A-Za-z0-9+/=_.~-])(?=[A-Za-z0-9+/=_.~-]{16})[A-Za-z+/=_.~-]*\d/

/** False for a text in which no credential can be, nor in any part of it: most that is linted. */
export const mayHoldCredential = (text: string): boolean =>
  BEGINNINGS.test(text) || (NAMES.test(text) && LONG_RUN.test(text))

/** Characters of the shortest of them: the value of a named one has more. */
export const SHORTEST_CREDENTIAL = 15

/** How an API key of ours begins, whole or cut. Source: decisions, section 1; lint rules, secret/own-api-key. */
const OWN_KEY = /\bsvc_[A-Za-z0-9]{20,}\b/

export const mayHoldOwnKey = (text: string): boolean => OWN_KEY.test(text)

export interface Credential {
  /** Offset in the text. */
  readonly start: number
  readonly text: string
  /** Its beginning only: a report must not spread what it warns of. */
  readonly shown: string
}

export function findCredential(text: string): Credential | undefined {
  return (BEGINNINGS.test(text) ? findForm(text, FORMS) : undefined) ?? findNamed(text)
}

/** The prefix alone may begin a name: what follows is random. */
export function findOwnKey(text: string): Credential | undefined {
  for (const match of text.matchAll(new RegExp(OWN_KEY, 'g')))
    if (isRandom(match[0].slice('svc_'.length)))
      return { start: match.index, text: match[0], shown: `${match[0].slice(0, 6)}…` }
  return undefined
}

function findForm(text: string, forms: readonly RegExp[]): Credential | undefined {
  for (const form of forms) {
    const match = form.exec(text)
    if (match !== null) return { start: match.index, text: match[0], shown: `${match[0].slice(0, 6)}…` }
  }
  return undefined
}

/** A name of a secret, and a value that is assigned to it: `password = "…"`. */
const NAMED =
  /\b(?:api[_ -]?key|apikey|access[_ -]?key|secret(?:[_-]?key)?|(?:auth|access|refresh)[_-]?token|password|passwd|private[_-]?key)["']?\s*(?:[:=]|\bis\b)\s*["']?([A-Za-z0-9+/=_.~-]{16,})/i

/** Characters of a value that is looked at, as `NAMED` says. */
const SHORTEST_NAMED = 16

/** A value beside the name of a secret is one when it is random: that is what keeps `password: your-password-here` out. */
function findNamed(text: string): Credential | undefined {
  if (text.length < SHORTEST_NAMED || !NAMES.test(text)) return undefined
  const match = NAMED.exec(text)
  const value = match?.[1]
  if (!match || value === undefined || !isRandom(value)) return undefined
  return { start: match.index + match[0].length - value.length, text: value, shown: `${value.slice(0, 4)}…` }
}

/** The same where the name is the key under which the value stands. @param pointer of the value in its document */
export function findNamedValue(pointer: string, text: string): Credential | undefined {
  if (text.length < SHORTEST_NAMED || /\s/.test(text)) return undefined
  return findNamed(`${pointer.slice(pointer.lastIndexOf('/') + 1)}: ${text}`)
}

/** Bits a character: English words have about 3, random letters and digits above 4; hexadecimal digits at most 4. */
const RANDOM_BITS = 3.5
const RANDOM_HEX_BITS = 3

/** True for a text that no person made up: many different characters of several kinds, and no words. */
export function isRandom(text: string): boolean {
  if (/^[0-9a-f]+$/i.test(text))
    return text.length >= 32 && /\d/.test(text) && /[a-f]/i.test(text) && entropyOf(text) > RANDOM_HEX_BITS
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length
  const words = text.split(/[^A-Za-z]+/).filter((word) => /^(?:[A-Z]?[a-z]{4,}|[A-Z]{4,})$/.test(word))
  return kinds >= 2 && /\d/.test(text) && words.join('').length * 2 < text.length && entropyOf(text) > RANDOM_BITS
}

/** Shannon's measure, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0)
}

/** Longer names of environment variables are rare, longer random texts are not. */
const LONG = 20

/** True for a text that is a secret rather than the name of a variable that holds one. */
export function looksLikeValue(text: string): boolean {
  if (findCredential(text) !== undefined || findOwnKey(text) !== undefined) return true
  if (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) &&
    !(text.length >= LONG && /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text))
  )
    return false
  return text.length >= LONG || /^(?:sk|pk|key|token)[-_]/.test(text)
}
