import { describe, expect, test } from 'vitest'
import { cursorAt, keysBelow } from '../../src/documents/lsp/cursor.ts'
import { createSource } from '../../src/documents/text/source.ts'
import type { YamlNode } from '../../src/documents/text/node.ts'
import { readYaml } from '../../src/documents/text/yaml.ts'
import { whole } from './whole.ts'

const HEAD = 'apiVersion: svc/v1\nkind: Agent\n'

/** Where the mark stands: place, what it is there, the word around it and the keys beside it. */
function read(marked: string) {
  const offset = marked.indexOf('¦')
  const text = marked.replace('¦', '')
  const { kind, path, key, at, start, end, siblings } = cursorAt(text, offset)
  return [
    kind,
    [...path, ...(key === undefined ? [] : [key])].join('.'),
    at,
    text.slice(start, end),
    [...siblings].join(),
  ]
}

describe('between brackets', () => {
  test.each([
    ['a key', 'spec:\n  model: { pro¦ }', ['spec.model', 'key', 'pro', '']],
    ['a key with its colon', 'spec:\n  model: { name: x, pro¦v: y }', ['spec.model.prov', 'key', 'prov', 'name']],
    ['nothing yet', 'spec:\n  model: {¦', ['spec.model', 'key', '', '']],
    ['a key before others', 'spec:\n  model: { ¦, name: x }', ['spec.model', 'key', '', 'name']],
    ['a value', 'spec: { model: { provider: ¦ } }', ['spec.model.provider', 'value', '', 'provider']],
    ['a value in quotes', 'spec: { model: { provider: "op¦" }', ['spec.model.provider', 'value', '"op"', 'provider']],
    [
      'quotes that are open',
      "spec: { model: { provider: 'op¦, x: 1 } }",
      ['spec.model.provider', 'value', "'op", 'provider'],
    ],
    ['an item', 'spec:\n  tools:\n    - { ref: ac¦me.x@^1 }', ['spec.tools.*.ref', 'value', 'acme.x@^1', 'ref']],
    ['an item of a list', 'spec:\n  default_policies: [a.b, ¦', ['spec.default_policies.*', 'item', '', '']],
    ['a mapping in a list', 'spec: { tools: [{ as: "🎉" }, { r¦', ['spec.tools.*', 'key', 'r', '']],
    [
      'several lines',
      'spec:\n  model: {\r\n    provider: a b, # {[\r\n  ¦\r\n  }',
      ['spec.model', 'key', '', 'provider'],
    ],
    ['what comes behind', 'spec:\n  model: { name: x }\n  li¦', ['spec', 'key', 'li', 'model']],
    ['a bracket in a text', 'spec:\n  purpose: |\n    {a: [\n  li¦', ['spec', 'key', 'li', 'purpose']],
    ['a bracket in words', 'spec:\n  purpose: use {x\n  li¦', ['spec', 'key', 'li', 'purpose']],
  ])('%s', (_, text, expected) => {
    expect(read(`${HEAD}${text}`)).toEqual(['Agent', ...expected])
  })

  test('a document in JSON that is half written', () => {
    expect(read('{\n  "kind": "Tool",\n  "spec": {\n    "description": "x: {",\n    "s¦"\n')).toEqual([
      'Tool',
      'spec',
      'key',
      '"s"',
      'description',
    ])
  })
})

test.each(Object.entries(whole).filter(([file]) => file.endsWith('.yaml')))(
  'every value of %s is found where the document has it, as JSON and in brackets',
  (file, text) => {
    const { value } = readYaml(createSource(file, text)).roots[0]!
    for (const [name, written] of [
      ['x.json', JSON.stringify(value, null, 1)],
      ['x.yaml', JSON.stringify(value).replaceAll(/"([A-Za-z_]+)":/g, '$1: ')],
    ] as const) {
      const visit = (node: YamlNode, path: string): void => {
        for (const { key, node: member } of node.members?.values() ?? [])
          visit(member, path === '' ? key : `${path}.${key}`)
        node.items?.forEach((item) => visit(item, `${path}.*`))
        if (node.members !== undefined || node.items !== undefined) return
        const cursor = cursorAt(written, node.start)
        expect([...cursor.path, ...(cursor.key === undefined ? [] : [cursor.key])].join('.')).toBe(path)
        expect(written.slice(cursor.start, cursor.end)).toBe(written.slice(node.start, node.end))
      }
      visit(readYaml(createSource(name, written)).roots[0]!, '')
    }
  },
)

describe('the kind of a document is known however it is written', () => {
  test.each([
    ['in quotes', '"apiVersion": svc/v1\n"kind": "Agent" # which\nspec:\n  mo¦'],
    ['with a space before the colon', 'kind : Agent\nspec:\n  mo¦'],
    ['all of it indented', '  # ours\n  kind: Agent\n  spec:\n    mo¦'],
    ['below a mapping with the same key', 'spec:\n  kind: Tool\n  mo¦\nkind: Agent'],
    ['in brackets', '# ours\n{ apiVersion: svc/v1, kind: Agent, spec: { mo¦ } }'],
  ])('%s', (_, text) => {
    expect(read(text).slice(0, 4)).toEqual(['Agent', 'spec', 'key', 'mo'])
  })

  test('and so are the names of its secrets', () => {
    const named = (text: string) => keysBelow(text.split('\n'), 'secrets')
    expect(named('"secrets":\n  "a": {fromEnv: A}\n  b:\n    fromEnv: B\nspec:\n  c: 1')).toEqual(['a', 'b'])
    expect(named('secrets: {a: {fromEnv: A}, "b":\n    {fromEnv: B}}\nspec: {c: 1}')).toEqual(['a', 'b'])
    expect(named('  secrets:\n    a: {fromEnv: A}\n  spec: {c: 1}')).toEqual(['a'])
    expect(named('spec:\n  secrets: {a: 1}')).toEqual([])
  })
})
