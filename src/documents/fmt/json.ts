import { memberOf, type YamlNode } from '../text/node.ts'
import { inOrder, keyOrderOf, type KeyOrder } from './order.ts'

/** A value as JSON with two spaces of indentation. Numbers keep their spelling, which may have more digits than a number can. */
export function printJson(root: YamlNode | undefined, source: string): string {
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
