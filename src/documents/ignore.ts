/** Patterns of `.svcignore` and `include`: the part of gitignore's language that people use. */

export interface Patterns {
  /** @param path relative, `/` separated; a directory ends with `/` */
  matches(path: string): boolean
}

/**
 * `*` within a name, `**` across directories, `?` one character; a leading or inner `/` ties the pattern to the root, a trailing one to
 * directories; `!` takes back; `#` begins a comment. The last pattern that matches decides.
 */
export function parseIgnore(text: string): Patterns {
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
        test: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${toRegExp(body)}${directory ? '/' : '(?:/|$)'}`),
      }
    })
  return {
    matches: (path) => rules.reduce((ignored, { negated, test }) => (test.test(path) ? !negated : ignored), false),
  }
}

/** Globs, each from the root. */
export function parseGlobs(globs: readonly string[]): Patterns {
  const tests = globs.map((glob) => new RegExp(`^${toRegExp(glob.replace(/^\.\//, ''))}$`))
  return { matches: (path) => tests.some((test) => test.test(path)) }
}

/** True for what no shell has expanded. A file may have such a name: who is there is meant. */
export const isGlob = (path: string): boolean => /[*?]|\{[^{}]*\}/.test(path)

function toRegExp(glob: string): string {
  return glob.replaceAll(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[.+^${}()|[\]\\]/g, (part, at: number) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    // Alone between two `/`, a star stands for a name, which is not empty.
    if (part === '*') return alone(glob, at) ? '[^/]+' : '[^/]*'
    if (part === '?') return '[^/]'
    if (part.length > 1 && part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(toRegExp).join('|')})`
    return `\\${part}`
  })
}

const alone = (glob: string, at: number): boolean =>
  (at === 0 || glob[at - 1] === '/') && (at === glob.length - 1 || glob[at + 1] === '/')
