/** YAML in its canonical form, through the document API of `yaml`, which keeps comments. */
import { CORE_SCHEMA } from 'js-yaml'
import { isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments, Scalar, visit } from 'yaml'
import type { CollectionTag, Document, Pair, ScalarTag, Tags, YAMLMap } from 'yaml'
import { stringifyString } from 'yaml/util'
import { inOrder, keyOrderOf, type KeyOrder } from './order.ts'

/** Lists and mappings in brackets that are longer are broken, one member a line. */
const WIDTH = 120
/** Folded texts are folded here. */
const FOLD = 80

/**
 * @param text YAML that the reader accepts, one document or several
 * @returns nothing where this stricter parser does not: a lone CR as line end, a key of more than 1,024 characters
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
  // What an alias names must stay above it.
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
  // A blank line before the first key separates it from nothing.
  node.spaceBefore = false
  if (isNode(first)) first.spaceBefore = false
  for (const { key, value } of node.items) arrangeNode(value, [...path, nameOf(key)], order)
}

function sort(map: YAMLMap, names: readonly string[], inList: boolean, document: Document.Parsed | undefined): void {
  const before = map.items[0]?.key
  const sorted = inOrder(map.items as Pair[], names, ({ key }) => nameOf(key))
  if (sorted[0]?.key !== before && isNode(before) && !inList) {
    // The comment above the first key is attached to the mapping, but it speaks of the key; above a list's item, of the item.
    const comment = joined(map.commentBefore, before.commentBefore)
    map.commentBefore = null
    const own = document === undefined ? comment : takeHead(comment, document)
    before.commentBefore = own === '' ? null : own
  }
  map.items = sorted
}

/** Comments that speak of the file: what a blank line separates from the rest, and orders to editors and to the linter. */
const OF_FILE = /^(?: *(?:yaml-language-server:|svc-lint-disable-file\b).*\n?)+/

/** Moves what speaks of the whole file to the document's head, and answers what speaks of its first key. */
function takeHead(comment: string, document: Document.Parsed): string {
  const blank = comment.lastIndexOf('\n\n')
  const split = blank >= 0 ? blank + 2 : (OF_FILE.exec(comment)?.[0].length ?? 0)
  if (split === 0) return comment
  document.commentBefore = joined(document.commentBefore, comment.slice(0, split).trimEnd())
  return comment.slice(split)
}

const joined = (...comments: readonly (string | null | undefined)[]): string =>
  comments.filter((each) => each !== null && each !== undefined && each !== '').join('\n')

const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : isAlias(key) ? `*${key.source}` : '')

/** The ways of writing that differ from those of the library. */
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
        return { ...tag, stringify: padded('') } as unknown as CollectionTag
      case 'tag:yaml.org,2002:map':
        return { ...tag, stringify: padded(' ') } as unknown as CollectionTag
      default:
        return tag
    }
  })
}

type Write = NonNullable<ScalarTag['stringify']>

/** `{ a: 1 }`, but `[1]`; without brackets where one line is too short. */
const padded =
  (flowCollectionPadding: string) =>
  (node: Collection, ctx: Parameters<Write>[1], ...rest: [(() => void)?, (() => void)?]): string => {
    const own = { ...ctx, flowCollectionPadding }
    if (node.flow === true && ctx.inFlow !== true && node.toString(own).includes('\n')) node.flow = false
    return node.toString(own, ...rest)
  }

/** A mapping or a list: the library's types leave out what its own stringifier calls. */
interface Collection {
  flow?: boolean
  toString(...all: unknown[]): string
}

/** A number keeps its author's spelling: `1e3` and `0x1F` say something that 1000 and 31 do not. */
const asWritten =
  ({ stringify }: ScalarTag): Write =>
  (item, ctx, ...rest) =>
    item.source ?? stringify!(item, ctx, ...rest)

const writeText: Write = (item, ctx, ...rest) => {
  const { type } = item
  const value = String(item.value)
  // Long texts stay on their line; only what its author folds is folded.
  const lineWidth = type === Scalar.BLOCK_FOLDED ? FOLD : 0
  const own = { ...ctx, actualString: true, options: { ...ctx.options, lineWidth } }
  const write = (as: Scalar.Type): string => stringifyString(Object.assign({}, item, { value, type: as }), own, ...rest)
  if ((type !== Scalar.QUOTE_DOUBLE && type !== Scalar.QUOTE_SINGLE) || value.includes('\n'))
    return write(type ?? Scalar.PLAIN)
  if (mayBePlain(value) && write(Scalar.PLAIN) === value) return value
  return write(type === Scalar.QUOTE_SINGLE && /["\\]/.test(value) ? type : Scalar.QUOTE_DOUBLE)
}

/** Words that YAML 1.1 took for truth values: their quotes say that a text is meant. Source: lint rules, doc/yaml11-boolean. */
const YAML11_BOOLEAN = /^(?:y|yes|n|no|on|off)$/i

const mayBePlain = (value: string): boolean =>
  value !== '' && !YAML11_BOOLEAN.test(value) && CORE_SCHEMA.resolveImplicitScalarTag(value).value === value
