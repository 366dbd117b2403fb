/**
 * The canonical form of a document: keys in the order of the schema, two spaces of indentation, quotes only where they change the value.
 * Source: docs/design/lint.md#canonical-form
 */
import type { Diagnostic } from '../text/diagnostic.ts'
import { decodeUtf8, type FileInput } from '../text/decode.ts'
import { withLineBreaksOf, createSource } from '../text/source.ts'
import { type YamlNode, memberOf } from '../text/node.ts'
import { readYaml } from '../text/yaml.ts'
import { printYaml } from './print.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { Lexer } from 'yaml'
import { inOrder, keyOrderOf, type KeyOrder } from './order.ts'

/** The text in its canonical form, or the reason it is left unchanged. */
export type FormattedText =
  | { readonly text: string; readonly changed: boolean }
  | { readonly findings: readonly Diagnostic[] }
  /** The form would lose a comment or change a value: a place where YAML allows comments and its editors do not. */
  | { readonly kept: string }

/**
 * Formats the documents of a file. Values, comments, the order of documents and line breaks stay; formatting is idempotent.
 * `.json` files become JSON, every other YAML.
 */
export function formatDocuments(file: FileInput): FormattedText {
  const { source, findings } = decodeUtf8(file)
  if (source === undefined) return { findings }
  const reading = readYaml(source)
  if (reading.findings.length > 0) return { findings: reading.findings }
  const { path } = file
  const json = path.endsWith('.json')
  const printed = json ? printJson(reading.roots[0], source.text) : settled(source.text.replaceAll('\r\n', '\n'))
  if (typeof printed !== 'string') return printed
  const text = withLineBreaksOf(source, printed)
  const changed = text !== source.text || findings.length > 0
  if (!changed || json) return { text, changed }
  const lost = lossOf(reading.roots, source.text, readYaml(createSource(path, text)).roots, text)
  return lost === undefined ? { text, changed } : { kept: lost }
}

/** A comment that is printed may be read as belonging to another line: printed again, it stays. */
const ROUNDS = 4

function settled(written: string): string | { readonly kept: string } {
  let text = written
  for (let round = 0; round <= ROUNDS; round++) {
    const next = printYaml(text)
    if (next === undefined) return { kept: 'it can be read, but not printed' }
    if (next === text) return text
    text = next
  }
  return { kept: 'its comments would move each time it is formatted' }
}

/** What only one of two texts contains. Checked on every file: a formatter must never lose content. */
function lossOf(before: readonly YamlNode[], from: string, after: readonly YamlNode[], to: string): string | undefined {
  if (!alike(before.map(valueOf), after.map(valueOf))) return 'a value would change'
  const kept = commentsOf(to)
  for (const comment of commentsOf(from)) {
    const at = kept.indexOf(comment)
    if (at < 0) return `the comment "${comment}" stands where it cannot be kept`
    kept.splice(at, 1)
  }
  return undefined
}

const valueOf = ({ value }: YamlNode): JsonValue => value

/** Equal but for the order of keys. */
function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [keysA, keysB] = [Object.keys(a), Object.keys(b)]
  return (
    keysA.length === keysB.length &&
    keysA.every(
      (key) => Object.hasOwn(b, key) && alike((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  )
}

/** Lexer token before the source of a scalar; a block scalar may begin with `#`. */
const SCALAR = '\u001f'

/** The comments of a text, in order, without space at their ends. */
function commentsOf(text: string): string[] {
  const comments: string[] = []
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('#') && before !== SCALAR) comments.push(lexeme.trimEnd())
    before = lexeme
  }
  return comments
}

/** A value as JSON with two spaces of indentation. Numbers keep their spelling, which may have more digits than a number can. */
function printJson(root: YamlNode | undefined, source: string): string {
  if (root === undefined) return ''
  return `${print(root, source, keyOrderOf(memberOf(root, 'kind')?.node.value), [], '')}\n`
}

function print(
  node: YamlNode,
  source: string,
  order: KeyOrder,
  path: readonly (string | number)[],
  indent: string,
): string {
  const inner = `${indent}  `
  const wrap = (open: string, lines: readonly string[], close: string): string =>
    lines.length === 0 ? open + close : `${open}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close}`
  if (node.items !== undefined)
    return wrap(
      '[',
      node.items.map((item, at) => print(item, source, order, [...path, at], inner)),
      ']',
    )
  if (typeof node.value === 'number') return source.slice(node.start, node.end)
  if (node.members === undefined) return JSON.stringify(node.value)
  const members = inOrder(node.members, order(path) ?? [], ({ key }) => key)
  return wrap(
    '{',
    members.map(
      ({ key, node: value }) => `${JSON.stringify(key)}: ${print(value, source, order, [...path, key], inner)}`,
    ),
    '}',
  )
}
