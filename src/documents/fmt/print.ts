/** YAML in its canonical form, through the document API of `yaml`, which keeps comments. */
import { CORE_SCHEMA } from 'js-yaml'
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
  Scalar,
  visit,
  type CollectionTag,
  type Document,
  type Pair,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from 'yaml'
import { stringifyString } from 'yaml/util'
import { inOrder, keyOrderOf, type KeyOrder } from './order.ts'

/** Longer flow collections are broken, one member per line. */
const WIDTH = 120
/** Column at which folded scalars are folded. */
const FOLD = 80

/**
 * @param text YAML that the reader accepts, one document or several
 * @returns undefined if this stricter parser fails, such as at a lone CR as line break or a key of more than 1,024 characters
 */
export function printYaml(text: string): string | undefined {
  const documents = parseAllDocuments(text, { version: '1.2', schema: 'core', customTags, uniqueKeys: false })
  if (documents.some(({ errors }) => errors.length > 0)) return undefined
  return documents
    .map((document) => {
      arrange(document)
      return document.toString({ lineWidth: WIDTH, doubleQuotedMinMultiLineLength: Infinity })
    })
    .join('')
}

function arrange(document: Document.Parsed): void {
  let aliases = false
  visit(document, { Alias: () => ((aliases = true), visit.BREAK) })
  const root = document.contents
  const order = keyOrderOf(isMap(root) ? root.get('kind') : undefined)
  // An anchor must stay above its aliases.
  arrangeNode(root, [], aliases ? () => undefined : order, document)
}

function arrangeNode(
  node: unknown,
  path: readonly (string | number)[],
  order: KeyOrder,
  document?: Document.Parsed,
): void {
  if (isSeq(node)) for (const [at, item] of node.items.entries()) arrangeNode(item, [...path, at], order)
  if (!isMap(node)) return
  const names = order(path)
  if (names !== undefined) sort(node, names, typeof path.at(-1) === 'number', document)
  const first = node.items[0]?.key
  // A blank line before the first key is useless.
  node.spaceBefore = false
  if (isNode(first)) first.spaceBefore = false
  for (const { key, value } of node.items) arrangeNode(value, [...path, nameOf(key)], order)
}

function sort(map: YAMLMap, names: readonly string[], inList: boolean, document: Document.Parsed | undefined): void {
  const before = map.items[0]?.key
  const sorted = inOrder(map.items as Pair[], names, ({ key }) => nameOf(key))
  if (sorted[0]?.key !== before && isNode(before) && !inList) {
    // The library attaches the comment above the first key or item to the collection; it belongs to the key or item.
    const comment = joined(map.commentBefore, before.commentBefore)
    map.commentBefore = null
    const own = document === undefined ? comment : takeHead(comment, document)
    before.commentBefore = own === '' ? null : own
  }
  map.items = sorted
}

/** Comments about the whole file: those followed by a blank line, and directives to editors and to the linter. */
const OF_FILE = /^(?: *(?:yaml-language-server:|svc-lint-disable-file\b).*\n?)+/

/** Moves comments about the whole file to the document's head, and returns those about its first key. */
function takeHead(comment: string, document: Document.Parsed): string {
  const blank = comment.lastIndexOf('\n\n')
  const split = blank >= 0 ? blank + 2 : (OF_FILE.exec(comment)?.[0].length ?? 0)
  if (split === 0) return comment
  document.commentBefore = joined(document.commentBefore, comment.slice(0, split).trimEnd())
  return comment.slice(split)
}

const joined = (...comments: readonly (string | null | undefined)[]): string =>
  comments.filter((each) => each !== null && each !== undefined && each !== '').join('\n')

function nameOf(key: unknown): string {
  if (isScalar(key)) return String(key.value)
  return isAlias(key) ? `*${key.source}` : ''
}

/** Node styles that differ from those of the library. */
function customTags(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag !== 'object') return tag
    switch (tag.tag) {
      case 'tag:yaml.org,2002:str':
        return { ...(tag as ScalarTag), stringify: writeText }
      case 'tag:yaml.org,2002:int':
      case 'tag:yaml.org,2002:float':
        return { ...(tag as ScalarTag), stringify: asWritten(tag as ScalarTag) }
      case 'tag:yaml.org,2002:seq':
        return withStringify(tag, padded(''))
      case 'tag:yaml.org,2002:map':
        return withStringify(tag, padded(' '))
      default:
        return tag
    }
  })
}

type Write = NonNullable<ScalarTag['stringify']>

/** `{ a: 1 }`, but `[1]`; block style if it does not fit on one line. */
const padded =
  (flowCollectionPadding: string) =>
  (node: Collection, ctx: Parameters<Write>[1], ...rest: [(() => void)?, (() => void)?]): string => {
    const own = { ...ctx, flowCollectionPadding }
    if (node.flow === true && ctx.inFlow !== true && node.toString(own).includes('\n')) node.flow = false
    return node.toString(own, ...rest)
  }

/** The library calls the method, which its types forbid for collections. */
const withStringify = (tag: CollectionTag | ScalarTag, stringify: ReturnType<typeof padded>): CollectionTag =>
  ({ ...tag, stringify }) as unknown as CollectionTag

/** A mapping or a list with the method that the library's stringifier calls, which its types omit. */
interface Collection {
  flow?: boolean
  toString(...all: unknown[]): string
}

/** Keeps the spelling of numbers: `1e3` and `0x1F` express an intent that 1000 and 31 do not. */
const asWritten =
  ({ stringify }: ScalarTag): Write =>
  (item, ctx, ...rest) =>
    item.source ?? stringify?.(item, ctx, ...rest) ?? String(item.value)

const writeText: Write = (item, ctx, ...rest) => {
  const { type } = item
  const value = String(item.value)
  // Long strings stay on their line; only folded scalars are folded.
  const lineWidth = type === Scalar.BLOCK_FOLDED ? FOLD : 0
  const own = { ...ctx, actualString: true, options: { ...ctx.options, lineWidth } }
  const write = (as: Scalar.Type): string => stringifyString(Object.assign({}, item, { value, type: as }), own, ...rest)
  if ((type !== Scalar.QUOTE_DOUBLE && type !== Scalar.QUOTE_SINGLE) || value.includes('\n'))
    return write(type ?? Scalar.PLAIN)
  if (mayBePlain(value) && write(Scalar.PLAIN) === value) return value
  return write(type === Scalar.QUOTE_SINGLE && /["\\]/.test(value) ? type : Scalar.QUOTE_DOUBLE)
}

/** Booleans of YAML 1.1: they keep their quotes, which mark them as strings. Source: docs/design/lint.md#canonical-form */
const YAML11_BOOLEAN = /^(?:y|yes|n|no|on|off)$/i

const mayBePlain = (value: string): boolean =>
  value !== '' && !YAML11_BOOLEAN.test(value) && CORE_SCHEMA.resolveImplicitScalarTag(value).value === value
