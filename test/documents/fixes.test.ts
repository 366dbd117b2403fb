import { describe, expect, test } from 'vitest'
import { applyFixes } from '../../src/documents/workspace/fix.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { readExampleTexts } from './rule-folders.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

const lintFiles = (files: Files, only?: string) => {
  const workspace = loadFiles(files)
  const findings = lintWorkspace(workspace)
  return { workspace, findings: findings.filter(({ rule }) => only === undefined || rule === only) }
}

/** The files after the safe fixes of one rule. */
function applyFixesOf(files: Files, rule: string): Record<string, string | Uint8Array> {
  const { workspace, findings } = lintFiles(files, rule)
  return { ...files, ...Object.fromEntries(applyFixes(workspace, findings)) }
}

/** The same as an editor on Windows keeps it. */
const withCrlf = (text: string): string => text.replaceAll('\n', '\r\n')

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

describe('a version', () => {
  const versioned = (version: string): string => tool('{}').replace('version: 1.2.0', `version: ${version}`)

  test.each([
    ['v1.2', '"1.2.0"'],
    ['V3', '"3.0.0"'],
    ['" 1.0.0"', '"1.0.0"'],
    ['v1.2.3-rc.1', '"1.2.3-rc.1"'],
    ['1.2-beta', '"1.2.0-beta"'],
    ['2', '"2.0.0"'],
    ['1.10', '"1.10.0"'],
  ])('%s is written whole', (written, meant) => {
    const rule = /^[\d.]+$/.test(written) ? 'doc/unquoted-scalar' : 'id/invalid-semver'
    expect(applyFixesOf({ 't.yaml': versioned(written) }, rule)['t.yaml']).toBe(versioned(meant))
  })

  test.each(['2020-01-01', '1.2.3.4', '1.x', '^1.2.3', 'release-7', 'latest', '01.2.3', '1.2.3-', 'v1.2.3-beta.01'])(
    '%s means no one version, and stays',
    (written) => {
      const files = { 't.yaml': versioned(written) }
      expect(lintFiles(files, 'id/invalid-semver').findings.map(({ fix }) => fix?.edits)).toEqual([[]])
    },
  )
})

describe('an operator that is called otherwise', () => {
  const policy = (op: string): string =>
    `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: large, namespace: pay, version: 1.0.0 }\nspec:\n  conditions: { field: args.to, op: ${op}, value: a }\n  decision: { type: deny }\n`

  test.each([
    ['equals', 'eq'],
    ['not_equals', 'ne'],
    ['"<>"', 'ne'],
    ['greaterThan', 'gt'],
    ['less_than_or_equal', 'lte'],
    ['nin', 'not_in'],
    ['notIn', 'not_in'],
    ['contain', 'contains'],
    ['startsWith', 'starts_with'],
    ['regex', 'matches'],
  ])('%s is written %s', (written, meant) => {
    expect(applyFixesOf({ 'p.yaml': policy(written) }, 'policy/condition-syntax')['p.yaml']).toBe(policy(meant))
  })

  test.each(['not_contains', 'not_starts_with', 'not_exists', '"!in"', 'doesNotContain', 'nmatches'])(
    '%s is never turned round',
    (written) => {
      const { findings } = lintFiles({ 'p.yaml': policy(written) }, 'policy/condition-syntax')
      expect(findings.map(({ fix }) => fix)).toEqual([{ description: 'Write the comparison under `not`.', edits: [] }])
    },
  )

  test.each(['above', 'xyz'])('%s says nothing', (written) => {
    const { findings } = lintFiles({ 'p.yaml': policy(written) }, 'policy/condition-syntax')
    expect(findings.map(({ fix }) => fix?.edits ?? [])).toEqual([[]])
  })
})

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
      'moves a block with a comment beside its key and texts in it',
      'doc/misplaced-key',
      agent(
        '  output: # of the answer\n    format: json\n    schema:\n      inline:\n        description: |-\n          # no comment\n            two  \n\n          end\n        title: >\n          folded\n\n  # how much\n  limits: { max_loop_iterations: 5 }\n',
      ),
      agent(
        '\n  # how much\n  limits: { max_loop_iterations: 5 }\n',
        'output:\n  # of the answer\n  format: json\n  schema:\n    inline:\n      description: |-\n        # no comment\n          two  \n\n        end\n      title: >\n        folded\n',
      ),
    ],
    [
      'moves brackets of several lines to the top level',
      'doc/misplaced-key',
      agent(
        '  output: {\n    format: json, # as agreed\n    strict: false\n  }\n  limits: { max_loop_iterations: 5 }\n',
      ),
      agent(
        '  limits: { max_loop_iterations: 5 }\n',
        'output: {\n    format: json, # as agreed\n    strict: false\n  }\n',
      ),
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
  ])('%s', (_, rule, before, after) => {
    expect(applyFixesOf({ 'a.yaml': before }, rule)).toEqual({ 'a.yaml': after })
    expect(applyFixesOf({ 'a.yaml': withCrlf(before) }, rule)).toEqual({ 'a.yaml': withCrlf(after) })
  })

  test('pins a tool to the version that is there', () => {
    const files = { 'a.yaml': agent('  tools: [{ ref: pay.refund }]\n'), 't.yaml': tool('{}') }
    expect(applyFixesOf(files, 'tool/unpinned')['a.yaml']).toBe(agent('  tools: [{ ref: "pay.refund@^1.2.0" }]\n'))
  })

  test.each(['tools/refund.yaml', 'refund'])('names the tool that was meant by %s', (ref) => {
    const files = { 'a.yaml': agent(`  tools: [{ ref: ${ref} }]\n`), 'tools/refund.yaml': tool('{}') }
    expect(applyFixesOf(files, 'tool/ref-syntax')['a.yaml']).toBe(agent('  tools: [{ ref: "pay.refund@^1.2.0" }]\n'))
  })

  test('moves a key in JSON', () => {
    const text = (output: string, inner: string): string =>
      `{"apiVersion": "svc/v1", "kind": "Agent", "metadata": {"name": "a", "namespace": "b", "version": "1.0.0"}, ${output}"spec": {"purpose": "p", ${inner}"instructions": {"text": "t"}, "model": {"provider": "scripted", "name": "s"}}}`
    expect(applyFixesOf({ 'a.json': text('', '"output": {"format": "json"}, ') }, 'doc/misplaced-key')).toEqual({
      'a.json': text('"output": {"format": "json"}, ', ''),
    })
  })

  test('moves a key in JSON of several lines', () => {
    const before = JSON.stringify(
      { apiVersion: 'svc/v1', kind: 'Agent', spec: { output: { format: 'json' }, purpose: 'p' } },
      null,
      2,
    )
    const after = applyFixesOf({ 'a.json': before }, 'doc/misplaced-key')['a.json']
    expect(after).toBe(
      '{\n  "apiVersion": "svc/v1",\n  "kind": "Agent",\n  "output": {\n      "format": "json"\n    },\n  "spec": {\n    "purpose": "p"\n  }\n}',
    )
  })

  test('leaves a text that means its indentation', () => {
    const before = agent('  output:\n    format: json\n    schema: { ref: |2 }\n').replace(
      '{ ref: |2 }',
      '|2\n       x',
    )
    expect(applyFixesOf({ 'a.yaml': before }, 'doc/misplaced-key')).toEqual({ 'a.yaml': before })
  })

  test.each<[string, string, Uint8Array]>([
    ['UTF-16, little end first', 'doc/not-utf8', new Uint8Array([0xff, 0xfe, ...Buffer.from(tool('{}'), 'utf16le')])],
    [
      'UTF-16, big end first',
      'doc/not-utf8',
      new Uint8Array([0xfe, 0xff, ...Buffer.from(tool('{}'), 'utf16le').swap16()]),
    ],
  ])('writes UTF-8 in place of %s', (_, rule, bytes) => {
    expect(applyFixesOf({ 't.yaml': bytes }, rule)).toEqual({ 't.yaml': tool('{}') })
  })

  test('is not made where the key has another home, or the home is taken', () => {
    for (const before of [
      agent('  output: { format: json }\n', 'output: { format: text }\n'),
      agent('  format: json\n').replace('  format', '  name'),
    ])
      expect(applyFixesOf({ 'a.yaml': before }, 'doc/misplaced-key')).toEqual({ 'a.yaml': before })
  })

  test('is made whole or not at all', () => {
    const before = agent('  max_loop_iterations: 5\n  max_tokens_per_run: 100\n')
    const once = applyFixesOf({ 'a.yaml': before }, 'doc/misplaced-key')
    expect(once['a.yaml']).toBe(
      agent('  max_tokens_per_run: 100\n').replace('spec:\n', 'spec:\n  limits:\n    max_loop_iterations: 5\n'),
    )
    expect(applyFixesOf(once, 'doc/misplaced-key')['a.yaml']).toBe(
      agent('').replace('spec:\n', 'spec:\n  limits:\n    max_tokens_per_run: 100\n    max_loop_iterations: 5\n'),
    )
  })

  test('that a person must judge is not made', () => {
    const files = {
      'a.yaml': agent('  tools: [{ ref: pay.refund@^1, side_effect_class: read_only }]\n'),
      't.yaml': tool('{ side_effect_class: irreversible_action }'),
    }
    const { findings } = lintFiles(files, 'tool/class-lowered')
    expect(findings.map(({ fix }) => [fix?.unsafe, fix?.edits.length])).toEqual([[true, 1]])
    expect(applyFixesOf(files, 'tool/class-lowered')).toEqual(files)
  })
})

test.each([
  [
    'spec.decision.type',
    'policy.yaml',
    tool('{ description: Ends it., decision: { type: alow } }').replace('kind: Tool', 'kind: Policy'),
  ],
  ['spec.side_effect_class', 'tool.yaml', tool('{ side_effect_class: read_onlyy }')],
])('what %s was meant to be is offered, and not written without a person', (_, path, text) => {
  const { findings } = lintFiles({ [path]: text }, 'doc/schema')
  expect(findings.map(({ fix }) => [fix?.unsafe, fix?.edits.length])).toEqual([[true, 1]])
  expect(applyFixesOf({ [path]: text }, 'doc/schema')).toEqual({ [path]: text })
})

describe('a gate on untrusted content', () => {
  const tools = `apiVersion: svc/v1
kind: Tool
metadata: { name: read, namespace: crm, version: 1.0.0, labels: { svc/data: private } }
spec: { description: Reads., side_effect_class: read_only }
---
apiVersion: svc/v1
kind: Tool
metadata: { name: fetch, namespace: web, version: 1.0.0, labels: { svc/content: untrusted } }
spec: { description: Fetches., side_effect_class: read_only }
---
apiVersion: svc/v1
kind: Tool
metadata: { name: send, namespace: mail, version: 1.0.0, labels: { svc/egress: external } }
spec: { description: Sends., side_effect_class: idempotent_write }
`
  const others = '  tools:\n    - ref: crm.read@^1\n    - ref: web.fetch@^1\n'

  test.each([
    [
      'a block',
      '    - ref: mail.send@^1 # out\n      as: send\n',
      '    - policies: [acme.tainted-send]\n      ref: mail.send@^1 # out\n      as: send\n',
    ],
    [
      'braces',
      '    - { ref: mail.send@^1 } # out\n',
      '    - { policies: [acme.tainted-send], ref: mail.send@^1 } # out\n',
    ],
    [
      'a block that has others',
      '    - ref: mail.send@^1\n      policies:\n        - acme.hours # by day\n',
      '    - ref: mail.send@^1\n      policies:\n        - acme.tainted-send\n        - acme.hours # by day\n',
    ],
    [
      'brackets that have others',
      '    - ref: mail.send@^1\n      policies: [acme.hours]\n',
      '    - ref: mail.send@^1\n      policies: [acme.tainted-send, acme.hours]\n',
    ],
  ])('is offered with its policy: %s', (_, before, after) => {
    const hours =
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: hours, namespace: acme, version: 1.0.0 }\nspec: { conditions: { field: svc.failure, op: exists, value: true }, decision: { type: allow } }\n'
    const files = { 'a.yaml': agent(others + before), 't.yaml': tools, 'hours.yaml': hours }
    const { workspace, findings } = lintFiles(files, 'security/lethal-trifecta')
    expect(findings.map(({ fix }) => [fix?.description, fix?.unsafe])).toEqual([
      ['Write policies/tainted-send.yaml, which requires an approval after untrusted content was read.', true],
    ])
    expect(applyFixesOf(files, 'security/lethal-trifecta')).toEqual(files)
    const accepted = findings.map(({ fix, ...finding }) => ({
      ...finding,
      fix: { description: fix!.description, edits: fix!.edits },
    }))
    const mended = { ...files, ...Object.fromEntries(applyFixes(workspace, accepted)) } as Record<string, string>
    expect(mended['a.yaml']).toBe(agent(others + after))
    expect(mended['policies/tainted-send.yaml']).toBe(`apiVersion: svc/v1
kind: Policy
metadata:
  name: tainted-send
  namespace: acme
  version: 1.0.0
spec:
  description: Requires an approval of mail.send after the run has read untrusted content.
  scope: tool:mail.send
  conditions:
    field: run.taint
    op: eq
    value: true
  decision:
    type: require_approval
    reason: This run has read untrusted content
    timeout:
      after_minutes: 60
      default: deny
`)
    expect(
      lintFiles(mended).findings.filter(({ path, rule }) => path.startsWith('policies/') || /trifecta/.test(rule)),
    ).toEqual([])
  })
})

describe('what a policy names elsewhere is written out', () => {
  const policy = (conditions: string): string =>
    `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: large, namespace: pay, version: 1.0.0 }\nspec:\n  conditions:\n    all:\n${conditions}  decision: { type: deny }\n`
  const FIRST = '      - &big { field: args.a, op: gt, value: 5 } # first\n'

  test.each<[what: string, before: string, after: string]>([
    ['a mapping', `${FIRST}      - *big\n`, `${FIRST}      - { field: "args.a", op: "gt", value: 5 }\n`],
    [
      'merged keys on lines',
      `${FIRST}      - <<: *big # but for\n        field: args.b\n`,
      `${FIRST}      - op: "gt"\n        value: 5 # but for\n        field: args.b\n`,
    ],
    [
      'merged keys in brackets',
      `${FIRST}      - { field: args.b, <<: *big }\n`,
      `${FIRST}      - { field: args.b, op: "gt", value: 5 }\n`,
    ],
    [
      'keys of several, of which the first counts',
      `${FIRST}      - &less { op: lt, each: any }\n      - <<: [*less, *big]\n`,
      `${FIRST}      - &less { op: lt, each: any }\n      - op: "lt"\n        each: "any"\n        field: "args.a"\n        value: 5\n`,
    ],
  ])('%s', (_, before, after) => {
    const rule = 'doc/anchor-across-policy'
    expect(applyFixesOf({ 'p.yaml': policy(before) }, rule)['p.yaml']).toBe(policy(after))
    expect(applyFixesOf({ 'p.yaml': withCrlf(policy(before)) }, rule)['p.yaml']).toBe(withCrlf(policy(after)))
  })

  test('merged keys of an agent are not reported as missing', () => {
    const files = {
      'a.yaml': agent('  tools:\n    - &one { ref: pay.refund@^1, as: one }\n    - <<: *one\n      as: two\n'),
    }
    const told = lintFiles(files).findings.filter(({ rule }) => rule.startsWith('doc/'))
    expect(told.map(({ rule, range }) => `${rule} ${range.start.line}:${range.start.column}`)).toEqual([
      'doc/unknown-key 10:7',
    ])
    expect(applyFixesOf(files, 'doc/unknown-key')['a.yaml']).toBe(
      agent('  tools:\n    - &one { ref: pay.refund@^1, as: one }\n    - ref: "pay.refund@^1"\n      as: two\n'),
    )
  })
})

describe('the fixes that the reference marks as unsafe', () => {
  const UNSAFE = [
    'limits/missing-loop',
    'schema/open-object',
    'tool/class-lowered',
    'policy/case-sensitive-email',
    'security/lethal-trifecta',
  ]
  const offered = (name: string) =>
    lintFiles(readExampleTexts(name, 'bad'), name).findings.flatMap(({ fix }) => (fix?.edits.length ? [fix] : []))

  test.each(UNSAFE)('%s offers what a person must judge', (name) => {
    expect(offered(name).filter((fix) => fix.unsafe)).not.toEqual([])
  })
})

describe('the safe fixes of every rule', () => {
  const shown = rules.flatMap((rule) => {
    const files = readExampleTexts(rule.name, 'bad')
    const { findings } = lintFiles(files, rule.name)
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
      lintFiles(given).findings.filter(({ severity }) => severity === 'error').length
    const after = applyFixesOf(commented, name)
    expect(lintFiles(after, name).findings.length).toBeLessThan(lintFiles(commented, name).findings.length)
    expect(errors(after)).toBeLessThanOrEqual(errors(commented))
    for (const [path, text] of Object.entries(commented))
      expect([path, ...String(after[path]).matchAll(/# (?:first|last)/g)].length).toBe(
        [path, ...text.matchAll(/# (?:first|last)/g)].length,
      )
  })
})

test.each(rules.map(({ name }) => [name, readExampleTexts(name, 'bad')] as const))(
  'what %s offers breaks lines as the file does',
  (name, files) => {
    const mended = (given: Files): Record<string, string> => {
      const { workspace, findings } = lintFiles(given, name)
      const all = findings.map(({ fix, ...rest }) =>
        fix ? { ...rest, fix: { description: fix.description, edits: fix.edits } } : rest,
      )
      return Object.fromEntries([...applyFixes(workspace, all)].filter(([path]) => Object.hasOwn(given, path)))
    }
    const asWindows = (given: Record<string, string>): Record<string, string> =>
      Object.fromEntries(Object.entries(given).map(([path, text]) => [path, withCrlf(text)]))
    expect(mended(asWindows(files))).toEqual(asWindows(mended(files)))
  },
)

describe('apiVersion', () => {
  test.each([
    ['of another version is written anew', ' svc/v2', ' svc/v1'],
    ['that is null is written', ' ~', ' svc/v1'],
    ['that is left empty stays, since no edit is certain', '', ''],
    ['that is a list stays: its key is not what is wrong', ' [svc/v1]', ' [svc/v1]'],
  ])('%s', (_, before, after) => {
    const text = (version: string): string =>
      `apiVersion:${version}\nkind: Tool\nmetadata: { name: refund, namespace: pay, version: 1.2.0 }\nspec: {}\n`
    expect(applyFixesOf({ 'tool.yaml': text(before) }, 'doc/api-version')['tool.yaml']).toBe(text(after))
  })
})

test('a key that is renamed and one that is moved to it do not make the same mapping twice', () => {
  const text = (metadata: string, decision: string): string =>
    `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: limit, namespace: pay, version: 1.0.0${metadata} }\nspec:\n${decision}`
  const before = text(', reason: Large. }', '  decisio:\n    type: deny\n').replace(' } }', ' }')
  const { workspace, findings } = lintFiles({ 'policy.yaml': before })
  expect(findings.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['doc/misplaced-key', 'doc/unknown-key']))
  const once = applyFixes(workspace, findings).get('policy.yaml')!
  expect(once).toBe(before.replace('decisio:', 'decision:'))
  const again = lintFiles({ 'policy.yaml': once })
  expect(applyFixes(again.workspace, again.findings).get('policy.yaml')).toBe(
    text('', '  decision:\n    reason: Large.\n    type: deny\n'),
  )
})

test('an alias of a long text is reported, not written out: there may be thousands of it', () => {
  const text = (letters: number): string =>
    `apiVersion: svc/v1\nkind: Policy\nspec:\n  description: &long ${'x'.repeat(letters)}\n  decision: {type: deny, reason: *long}\n`
  const edits = (letters: number): readonly number[] =>
    lintWorkspace(loadFiles({ 'a.yaml': text(letters) }))
      .filter(({ rule }) => rule === 'doc/anchor-across-policy')
      .map(({ fix }) => fix!.edits.length)
  expect([edits(500), edits(501)]).toEqual([[1], [0]])
})
