/**
 * A page of documentation as a program. Read from top to bottom, in one fresh directory:
 *
 * - A `console` block holds commands (`$ …`) and what they print. `# exit 3` tells the exit code, where it is not 0.
 * - `svc dev` and `svc serve` go on to the end of the page; a block that begins with output is what they say meanwhile.
 * - A `yaml`, `json`, `jsonl` or `js` block that begins with a comment `# path/of/the.yaml` (`// path` in others) is that file.
 * - A `ts` block is type-checked.
 *
 * What differs from run to run may differ: ids, addresses, times, durations, keys. `…` stands for the rest of a line, alone for
 * any lines. An id or address of the page stands for the one that was printed in its place, in later commands too.
 */
export type Block =
  | { readonly is: 'console'; readonly line: number; readonly parts: readonly Part[] }
  | { readonly is: 'file'; readonly line: number; readonly path: string; readonly text: string }
  | { readonly is: 'ts'; readonly line: number; readonly text: string }

export interface Part {
  /** Absent for what a server says by itself. */
  readonly command?: string
  readonly output: readonly string[]
  readonly exit: number
}

const FENCE = /^( *)```([a-z]*)\n([\s\S]*?)^\1```$/gm

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(FENCE)].flatMap((match): Block[] => {
    const [, indent = '', language = '', body = ''] = match
    const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const line = markdown.slice(0, match.index).split('\n').length
    if (language === 'console') return [{ is: 'console', line, parts: partsOf(text) }]
    if (language === 'ts') return [{ is: 'ts', line, text }]
    const path = /^(?:#|\/\/) ([\w./-]+\.(?:yaml|jsonl?|mjs|md))\n/.exec(text)?.[1]
    if (path === undefined) return []
    // JSON has no comments, and front matter begins the file.
    const isBare = /\.jsonl?$/.test(path) || /^.*\n---\n/.test(text)
    return [{ is: 'file', line, path, text: isBare ? text.replace(/^.*\n/, '') : text }]
  })
}

function partsOf(text: string): Part[] {
  const parts: { command?: string; output: string[]; exit: number }[] = []
  for (const line of text.trimEnd().split('\n')) {
    const last = parts.at(-1)
    const exit = /^# exit (\d+)$/.exec(line)?.[1]
    if (line.startsWith('$ ')) parts.push({ command: line.slice(2), output: [], exit: 0 })
    else if (last?.command?.endsWith('\\') && last.output.length === 0) last.command += `\n${line}`
    else if (exit !== undefined && last) last.exit = Number(exit)
    else if (last) last.output.push(line)
    else parts.push({ output: [line], exit: 0 })
  }
  return parts
}

/** Titles of the headings of a page, without those that a block shows. */
export const headingsOf = (markdown: string): string[] =>
  [...markdown.replaceAll(FENCE, '').matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!)

/** The headings as links name them. */
export const anchorsOf = (markdown: string): string[] =>
  headingsOf(markdown).map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

/** Ids and addresses of the page, with those that stood in their place. */
export type Names = Map<string, string>

/** The command with the ids that were printed. */
export const named = (command: string, names: Names): string => command.replaceAll(ID, (id) => names.get(id) ?? id)

/** Whether this was printed; ids that are new are learned. */
export function matches(expected: readonly string[], actual: string, names: Names): boolean {
  const learned: string[] = []
  const pattern = expected.map((line) => (line === '…' ? ANY_LINES : `${patternOf(line, names, learned)}\n`)).join('')
  const found = new RegExp(`^${pattern}$`).exec(actual === '' || actual.endsWith('\n') ? actual : `${actual}\n`)
  learned.forEach((id, at) => found && names.set(id, found[at + 1]!))
  return found !== null
}

/** Never a failure: its exit code is written out. */
const ANY_LINES = '(?:(?!# exit \\d).*\\n)*?'
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const SHORT = '[0-9a-f]{6}'
const ADDRESS = '127\\.0\\.0\\.1:\\d+'
const ID = new RegExp(`\\b(?:${UUID}|${ADDRESS}|(?=[a-f]*[0-9])${SHORT})\\b`, 'g')

/** What may differ, and what may stand in its place. The first that fits wins. */
const LOOSE: readonly (readonly [pattern: string, instead: string])[] = [
  ['…', '.*?'],
  [' {2,}', ' +'],
  ['svc_[A-Za-z0-9]+', 'svc_[A-Za-z0-9]+'],
  ['sha256:[0-9a-f]+', 'sha256:[0-9a-f]+'],
  ['\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z', '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'],
  ['just now|\\d+ (?:s|min) ago', '(?:just now|\\d+ (?:s|min) ago)'],
  ['\\b\\d\\d:\\d\\d:\\d\\d\\b', '\\d\\d:\\d\\d:\\d\\d'],
  ['\\b\\d+(?:\\.\\d+)?(?: ?ms| s|s| min|m)\\b', '\\d+(?:\\.\\d+)?(?: ?ms| s|s| min|m)'],
]

function patternOf(line: string, names: Names, learned: string[]): string {
  const tokens = new RegExp([`(?<id>${ID.source})`, ...LOOSE.map(([pattern]) => `(?:${pattern})`)].join('|'), 'g')
  let pattern = ''
  let from = 0
  for (const match of line.matchAll(tokens)) {
    const [text] = match
    pattern += escape(line.slice(from, match.index)) + looseOf(text, match.groups?.['id'] !== undefined, names, learned)
    from = match.index + text.length
  }
  return pattern + escape(line.slice(from).trimEnd()) + ' *'
}

function looseOf(text: string, isId: boolean, names: Names, learned: string[]): string {
  if (isId) {
    const known = names.get(text)
    if (known !== undefined) return escape(known)
    const at = learned.indexOf(text)
    if (at >= 0) return `\\${at + 1}`
    learned.push(text)
    return `(${text.includes(':') ? ADDRESS : text.includes('-') ? UUID : SHORT})`
  }
  return LOOSE.find(([pattern]) => new RegExp(`^(?:${pattern})$`).test(text))![1]
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
