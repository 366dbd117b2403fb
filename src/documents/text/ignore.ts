/** Patterns of `.svcignore` and `include`: a subset of gitignore. */
import { firstCodePoint } from '../../base/text/text-parts.ts'

export interface IgnorePatterns {
  /** @param path relative, `/` separated; a directory ends with `/` */
  matches(path: string): boolean
}

/**
 * `*` matches within a name, `**` across directories, `?` one character, `[a-z]` and `[!x]` one character of a class; `\` escapes.
 * A leading or inner `/` anchors the pattern at the root, a trailing one matches directories only. `!` negates, `#` begins a
 * comment. The last matching pattern decides.
 */
export function parseIgnore(text: string): IgnorePatterns {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const negated = line.startsWith('!')
      const pattern = negated ? line.slice(1) : line
      const directory = pattern.endsWith('/')
      const body = pattern.replace(/^\//, '').replace(/\/$/, '')
      const anchored = pattern.slice(0, -1).includes('/')
      return {
        negated,
        test: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${toRegExp(body)}${directory ? '/' : '(?:/|$)'}`, 'u'),
      }
    })
  return {
    matches: (path) => rules.reduce((ignored, { negated, test }) => (test.test(path) ? !negated : ignored), false),
  }
}

/** Globs, each anchored at the root. */
export function parseGlobs(globs: readonly string[]): IgnorePatterns {
  const tests = globs.map((glob) => new RegExp(`^${toRegExp(glob.replace(/^\.\//, ''))}$`, 'u'))
  return { matches: (path) => tests.some((test) => test.test(path)) }
}

/** True for a glob that no shell has expanded. If a file has this very name, callers use the file. */
export const isGlob = (path: string): boolean => /[*?]|\{[^{}]*\}|\[[^/]+\]/.test(path)

/** Special characters of a glob, longer ones first. A `]` at the start of a class is a member of it. */
const MARKS =
  /\\.|\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[(?:[!^]|(?![!^]))(?:\]|\[:[a-z]+:\]|\\.|[^\]\\/])(?:\[:[a-z]+:\]|\\.|[^\]\\/])*\]|[.+^${}()|[\]\\]/gu

function toRegExp(glob: string): string {
  return glob.replaceAll(MARKS, (part, at: number) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    // A star alone between two `/` matches a name, which is not empty.
    if (part === '*') return alone(glob, at) ? '[^/]+' : '[^/]*'
    if (part === '?') return '[^/]'
    if (part.length > 1 && part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(toRegExp).join('|')})`
    if (part.length > 1 && part.startsWith('[')) return toClass(part)
    return literal(unescaped(part))
  })
}

const alone = (glob: string, at: number): boolean =>
  (at === 0 || glob[at - 1] === '/') && (at === glob.length - 1 || glob[at + 1] === '/')

/** A character class, which never matches `/`. */
function toClass(part: string): string {
  const negated = /^\[[!^]/.test(part)
  const members = part.slice(negated ? 2 : 1, -1).replaceAll(MEMBERS, (member, named, from, to) => {
    if (named !== undefined) return NAMED[named as string] ?? ''
    if (from === undefined) return literal(unescaped(member))
    const [first, last] = [unescaped(from as string), unescaped(to as string)]
    // A descending range matches nothing.
    return firstCodePoint(first) > firstCodePoint(last) ? '' : `${literal(first)}-${literal(last)}`
  })
  return negated ? `[^/${members}]` : `(?!/)[${members}]`
}

const MEMBERS = /\[:([a-z]+):\]|(\\?.)-(\\?.)|\\?./gu
const NAMED: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{N}',
  alpha: '\\p{L}',
  digit: '0-9',
  lower: '\\p{Ll}',
  punct: '\\p{P}\\p{S}',
  space: '\\s',
  upper: '\\p{Lu}',
  xdigit: '0-9A-Fa-f',
}

const unescaped = (member: string): string => (member.length > 1 && member.startsWith('\\') ? member.slice(1) : member)

const literal = (character: string): string => `\\u{${firstCodePoint(character).toString(16)}}`
