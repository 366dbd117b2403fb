import { describe, expect, test } from 'vitest'
import { applyFixes } from '../../src/documents/fix.ts'
import { lint } from '../../src/documents/lint.ts'
import { loadFiles } from '../../src/documents/load.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { complete } from './complete.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

const judged = (files: Files, only?: string) => {
  const workspace = loadFiles(files)
  const findings = lint(workspace)
  return { workspace, findings: findings.filter(({ rule }) => only === undefined || rule === only) }
}

/** The files after the safe fixes of one rule. */
function fixed(files: Files, rule: string): Record<string, string | Uint8Array> {
  const { workspace, findings } = judged(files, rule)
  return { ...files, ...Object.fromEntries(applyFixes(workspace, findings)) }
}

const agent = (spec: string, top = ''): string => `apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: acme, version: 1.0.0 }
${top}spec:
  purpose: Answers questions.
  instructions: { text: Help. }
  model: { provider: scripted, name: script }
${spec}`
const tool = (spec: string): string =>
  `apiVersion: svc/v1\nkind: Tool\nmetadata: { name: refund, namespace: pay, version: 1.2.0 }\nspec: ${spec}\n`

describe('a fix', () => {
  test.each<[what: string, rule: string, before: string, after: string]>([
    [
      'moves a flow mapping to the top level',
      'doc/misplaced-key',
      agent('  output: { format: json } # as agreed\n  limits: { max_loop_iterations: 5 }\n'),
      agent('  # as agreed\n  limits: { max_loop_iterations: 5 }\n', 'output: { format: json }\n'),
    ],
    [
      'moves a block with the comments in it, and changes its indentation',
      'doc/misplaced-key',
      agent(
        '  output:\n    # of the answer\n    format: json\n    strict: false\n  limits: { max_loop_iterations: 5 }\n',
      ),
      agent('  limits: { max_loop_iterations: 5 }\n', 'output:\n  # of the answer\n  format: json\n  strict: false\n'),
    ],
    [
      'moves a limit below limits, which it adds',
      'doc/misplaced-key',
      agent('  max_loop_iterations: 5\n'),
      agent('').replace('spec:\n', 'spec:\n  limits:\n    max_loop_iterations: 5\n'),
    ],
    [
      'moves a limit into limits that are there',
      'doc/misplaced-key',
      agent('  limits:\n    # tokens first\n    max_tokens_per_run: 100\n  max_loop_iterations: 5\n'),
      agent('  limits:\n    # tokens first\n    max_loop_iterations: 5\n    max_tokens_per_run: 100\n'),
    ],
    [
      'moves a model parameter into parameters in flow style',
      'doc/misplaced-key',
      agent('').replace('name: script }', 'name: script, temperature: 1 }'),
      agent('').replace('{ provider', '{ parameters: { temperature: 1 }, provider'),
    ],
    [
      'puts a text under the key that was meant',
      'doc/schema',
      agent('').replace('{ text: Help. }', 'Help.'),
      agent(''),
    ],
    [
      'makes a name in a list of tools a reference',
      'doc/schema',
      agent('  tools:\n    - pay.refund # the only one\n'),
      agent('  tools:\n    - { ref: pay.refund } # the only one\n'),
    ],
    [
      'puts a JSON Schema in a block under its key',
      'doc/misplaced-key',
      agent('', 'output:\n  schema:\n    # small\n    type: object\n\n    properties:\n      a: { type: string }\n'),
      agent(
        '',
        'output:\n  schema:\n    # small\n    inline:\n      type: object\n\n      properties:\n        a: { type: string }\n',
      ),
    ],
    [
      'puts a JSON Schema in braces under its key',
      'doc/misplaced-key',
      tool('{ input_schema: { type: object } }'),
      tool('{ input_schema: { inline: { type: object } } }'),
    ],
    [
      'takes an unused secret out, and the list that it leaves empty',
      'secret/unused',
      agent('', 'secrets:\n  old: { fromEnv: OLD_KEY }\n'),
      agent(''),
    ],
    [
      'takes one of two unused secrets out',
      'secret/unused',
      agent('', 'secrets:\n  old: { fromEnv: OLD_KEY }\n  key: { fromEnv: KEY }\n').replace(
        'provider: scripted',
        'provider: vendor_a, secret: key',
      ),
      agent('', 'secrets:\n  key: { fromEnv: KEY }\n').replace('provider: scripted', 'provider: vendor_a, secret: key'),
    ],
    [
      'declares the secret of a provider',
      'model/secret-implicit-missing',
      agent('').replace('scripted', 'vendor_a'),
      agent('', 'secrets:\n  vendor_a: { fromEnv: VENDOR_A_API_KEY }\n').replace('scripted', 'vendor_a'),
    ],
    [
      'adds the format that a schema asks for',
      'output/schema-without-json',
      agent('', 'output:\n  schema: { inline: { type: object } } # small\n'),
      agent('', 'output:\n  format: json\n  schema: { inline: { type: object } } # small\n'),
    ],
    [
      'takes a version out that says nothing',
      'doc/version-without-ref',
      agent('').replace('{ text: Help. }', '{ text: Help., version: 2 }'),
      agent('').replace('{ text: Help. }', '{ text: Help. }'),
    ],
    [
      'writes an enumerated value as it is spelt',
      'doc/schema',
      tool('{ side_effect_class: readonly }'),
      tool('{ side_effect_class: read_only }'),
    ],
    [
      'writes the key of a comparison',
      'policy/condition-syntax',
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: p, namespace: a, version: 1.0.0 }\nspec: { conditions: { field: args.a, operator: eq, value: 1 }, decision: { type: deny } }\n',
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: p, namespace: a, version: 1.0.0 }\nspec: { conditions: { field: args.a, op: eq, value: 1 }, decision: { type: deny } }\n',
    ],
    [
      'writes the field that was meant',
      'policy/condition-field',
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: p, namespace: a, version: 1.0.0 }\nspec: { conditions: { field: run.dpth, op: gt, value: 1 }, decision: { type: deny } }\n',
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: p, namespace: a, version: 1.0.0 }\nspec: { conditions: { field: run.depth, op: gt, value: 1 }, decision: { type: deny } }\n',
    ],
  ])('%s', (_, rule, before, after) => {
    expect(fixed({ 'a.yaml': before }, rule)).toEqual({ 'a.yaml': after })
  })

  test('pins a tool to the version that is there', () => {
    const files = { 'a.yaml': agent('  tools: [{ ref: pay.refund }]\n'), 't.yaml': tool('{}') }
    expect(fixed(files, 'tool/unpinned')['a.yaml']).toBe(agent('  tools: [{ ref: "pay.refund@^1.2.0" }]\n'))
  })

  test.each(['tools/refund.yaml', 'refund'])('names the tool that was meant by %s', (ref) => {
    const files = { 'a.yaml': agent(`  tools: [{ ref: ${ref} }]\n`), 'tools/refund.yaml': tool('{}') }
    expect(fixed(files, 'tool/ref-syntax')['a.yaml']).toBe(agent('  tools: [{ ref: "pay.refund@^1.2.0" }]\n'))
  })

  test('moves a key in JSON', () => {
    const text = (output: string, inner: string): string =>
      `{"apiVersion": "svc/v1", "kind": "Agent", "metadata": {"name": "a", "namespace": "b", "version": "1.0.0"}, ${output}"spec": {"purpose": "p", ${inner}"instructions": {"text": "t"}, "model": {"provider": "scripted", "name": "s"}}}`
    expect(fixed({ 'a.json': text('', '"output": {"format": "json"}, ') }, 'doc/misplaced-key')).toEqual({
      'a.json': text('"output": {"format": "json"}, ', ''),
    })
  })

  test.each<[string, string, Uint8Array]>([
    ['UTF-16, little end first', 'doc/not-utf8', new Uint8Array([0xff, 0xfe, ...Buffer.from(tool('{}'), 'utf16le')])],
    [
      'UTF-16, big end first',
      'doc/not-utf8',
      new Uint8Array([0xfe, 0xff, ...Buffer.from(tool('{}'), 'utf16le').swap16()]),
    ],
    ['a byte order mark', 'doc/bom', Buffer.from(`\uFEFF${tool('{}')}`)],
  ])('writes UTF-8 in place of %s', (_, rule, bytes) => {
    expect(fixed({ 't.yaml': bytes }, rule)).toEqual({ 't.yaml': tool('{}') })
  })

  test('is not made where the key has another home, or the home is taken', () => {
    for (const before of [
      agent('  output: { format: json }\n', 'output: { format: text }\n'),
      agent('  format: json\n').replace('  format', '  name'),
    ])
      expect(fixed({ 'a.yaml': before }, 'doc/misplaced-key')).toEqual({ 'a.yaml': before })
  })

  test('is made whole or not at all', () => {
    const before = agent('  max_loop_iterations: 5\n  max_tokens_per_run: 100\n')
    const once = fixed({ 'a.yaml': before }, 'doc/misplaced-key')
    expect(once['a.yaml']).toBe(
      agent('  max_tokens_per_run: 100\n').replace('spec:\n', 'spec:\n  limits:\n    max_loop_iterations: 5\n'),
    )
    expect(fixed(once, 'doc/misplaced-key')['a.yaml']).toBe(
      agent('').replace('spec:\n', 'spec:\n  limits:\n    max_tokens_per_run: 100\n    max_loop_iterations: 5\n'),
    )
  })

  test('that a person must judge is not made', () => {
    const files = {
      'a.yaml': agent('  tools: [{ ref: pay.refund@^1, side_effect_class: read_only }]\n'),
      't.yaml': tool('{ side_effect_class: irreversible_action }'),
    }
    const { findings } = judged(files, 'tool/class-lowered')
    expect(findings.map(({ fix }) => [fix?.unsafe, fix?.edits.length])).toEqual([[true, 1]])
    expect(fixed(files, 'tool/class-lowered')).toEqual(files)
  })
})

describe('the safe fixes of every rule', () => {
  const shown = rules.flatMap((rule) => {
    const files = complete(rule.bad)
    const { findings } = judged(files, rule.name)
    return findings.some(({ fix }) => fix !== undefined && !fix.unsafe && fix.edits.length > 0)
      ? [[rule.name, files] as const]
      : []
  })

  test.each(shown)('%s: mend its bad example, bring no error and lose no comment', (name, files) => {
    const commented = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path,
        path.endsWith('.yaml') && !text.startsWith('\uFEFF') ? `# first\n${text.trimEnd()}\n# last\n` : text,
      ]),
    )
    const errors = (given: Files): number =>
      judged(given).findings.filter(({ severity }) => severity === 'error').length
    const after = fixed(commented, name)
    expect(judged(after, name).findings.length).toBeLessThan(judged(commented, name).findings.length)
    expect(errors(after)).toBeLessThanOrEqual(errors(commented))
    for (const [path, text] of Object.entries(commented))
      expect([path, ...String(after[path]).matchAll(/# (?:first|last)/g)].length).toBe(
        [path, ...text.matchAll(/# (?:first|last)/g)].length,
      )
  })
})
