import { memberOf, type Node } from '../yaml.ts'
import { inOrder, keyOrderOf, type KeyOrder } from './order.ts'

/** A value as JSON with two spaces of indentation. */
export function printJson(root: Node | undefined): string {
  if (root === undefined) return ''
  return `${print(root, keyOrderOf(memberOf(root, 'kind')?.node.value), [], '')}\n`
}

function print(node: Node, order: KeyOrder, path: readonly (string | number)[], indent: string): string {
  const inner = `${indent}  `
  const wrap = (open: string, lines: readonly string[], close: string): string =>
    lines.length === 0 ? open + close : `${open}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close}`
  if (node.items !== undefined)
    return wrap(
      '[',
      node.items.map((item, at) => print(item, order, [...path, at], inner)),
      ']',
    )
  if (node.members === undefined) return JSON.stringify(node.value)
  const members = inOrder(node.members, order(path) ?? [], ({ key }) => key)
  return wrap(
    '{',
    members.map(({ key, node: value }) => `${JSON.stringify(key)}: ${print(value, order, [...path, key], inner)}`),
    '}',
  )
}
