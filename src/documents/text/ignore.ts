/** Patterns of `.svcignore` and `include`: the part of gitignore's language that people use. */

export interface IgnorePatterns {
  /** @param path relative, `/` separated; a directory ends with `/` */
  matches(path: string): boolean
}

/**
 * `*` within a name, `**` across directories, `?` one character, `[a-z]` or `[!x]` one of these or of the others, `\` before a mark takes
 * it literally; a leading or inner `/` ties the pattern to the root, a trailing one to
 * directories; `!` takes back; `#` begins a comment. The last pattern that matches decides.
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

/** Globs, each from the root. */
export function parseGlobs(globs: readonly string[]): IgnorePatterns {
  const tests = globs.map((glob) => new RegExp(`^${toRegExp(glob.replace(/^\.\//, ''))}$`, 'u'))
  return { matches: (path) => tests.some((test) => test.test(path)) }
}

/** True for what no shell has expanded. A file may have such a name: who is there is meant. */
export const isGlob = (path: string): boolean => /[*?]|\{[^{}]*\}|\[[^/]+\]/.test(path)

/** Marks of a glob, first the longer ones. A `]` that comes first in a class is a member of it. */
const MARKS =
  /\\.|\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[(?:[!^]|(?![!^]))(?:\]|\[:[a-z]+:\]|\\.|[^\]\\/])(?:\[:[a-z]+:\]|\\.|[^\]\\/])*\]|[.+^${}()|[\]\\]/gu

function toRegExp(glob: string): string {
  return glob.replaceAll(MARKS, (part, at: number) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    // Alone between two `/`, a star stands for a name, which is not empty.
    if (part === '*') return alone(glob, at) ? '[^/]+' : '[^/]*'
    if (part === '?') return '[^/]'
    if (part.length > 1 && part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(toRegExp).join('|')})`
    if (part.length > 1 && part.startsWith('[')) return toClass(part)
    return literal(unescaped(part))
  })
}

const alone = (glob: string, at: number): boolean =>
  (at === 0 || glob[at - 1] === '/') && (at === glob.length - 1 || glob[at + 1] === '/')

/** One character of those that are listed, or of all others; never the `/` between names. */
function toClass(part: string): string {
  const negated = /^\[[!^]/.test(part)
  const members = part.slice(negated ? 2 : 1, -1).replaceAll(MEMBERS, (member, named, from, to) => {
    if (named !== undefined) return NAMED[named as string] ?? ''
    if (from === undefined) return literal(unescaped(member))
    const [first, last] = [unescaped(from as string), unescaped(to as string)]
    // A range that runs backwards holds nothing.
    return first.codePointAt(0)! > last.codePointAt(0)! ? '' : `${literal(first)}-${literal(last)}`
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

const literal = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`
