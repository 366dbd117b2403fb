import { describe, expect, test } from 'vitest'
import { lintWorkspace, type LintOptions } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { createSource } from '../../src/documents/text/source.ts'
import type { YamlNode } from '../../src/documents/text/node.ts'
import { readYaml } from '../../src/documents/text/yaml.ts'
import { whole } from './whole.ts'

const found = (changed: Readonly<Record<string, string | Uint8Array>>, options?: LintOptions): string[] =>
  lintWorkspace(loadFiles({ ...whole, ...changed }), options).map(({ path, rule }) => `${path} ${rule}`)

interface Spot {
  readonly file: string
  readonly pointer: string
  readonly start: number
  readonly end: number
  readonly value: unknown
}

/** Keys of the format, and scalars that are texts; what is the author's own is left out. */
function spots(of: 'keys' | 'texts'): Spot[] {
  const all: Spot[] = []
  for (const [file, text] of Object.entries(whole)) {
    if (!file.endsWith('.yaml')) continue
    const visit = (node: YamlNode, pointer: string): void => {
      for (const { key, start, node: member } of node.members?.values() ?? []) {
        if (of === 'keys' && !/\/(?:inline|conditions|labels|annotations|secrets)(?:\/|$)/.test(pointer))
          all.push({ file, pointer: `${pointer}/${key}`, start, end: start + key.length, value: key })
        visit(member, `${pointer}/${key}`)
      }
      node.items?.forEach((item, at) => visit(item, `${pointer}/${at}`))
      if (of === 'texts' && typeof node.value === 'string')
        all.push({ file, pointer, start: node.start, end: node.end, value: node.value })
    }
    visit(readYaml(createSource(file, text)).roots[0]!, '')
  }
  return all
}

const named = (all: readonly Spot[]) => all.map((each) => [`${each.file} ${each.pointer}`, each] as const)
const written = ({ file, start, end }: Spot, by: (text: string) => string): Record<string, string> => {
  const text = whole[file]!
  return { [file]: text.slice(0, start) + by(text.slice(start, end)) + text.slice(end) }
}

test('about the whole bundle there is nothing to say', () => {
  expect(found({})).toEqual([])
})

const documents = Object.keys(whole).filter((file) => file.endsWith('.yaml'))

describe.each(documents)('%s', (file) => {
  const text = whole[file]!
  test.each<[string, string, string | Uint8Array]>([
    ['that breaks off', 'doc/syntax', `${text.trimEnd()}\n  [: {`],
    ['in UTF-16', 'doc/not-utf8', new Uint8Array([255, 254, ...Buffer.from(text, 'utf16le')])],
    ['of a kind that is misspelt', 'doc/kind-unknown', text.replace(/kind: (\w+)/, 'kind: $1s')],
    ['of another kind', 'doc/kind-unknown', text.replace(/kind: \w+/, 'kind: Workflow')],
    ['of another version', 'doc/api-version', text.replace('svc/v1', 'svc/v2')],
  ])('%s is one finding', (_, rule, broken) => {
    expect(found({ [file]: broken })).toEqual([`${file} ${rule}`])
  })
})

describe('a value that is of no use where it stands, and wrong, is one finding', () => {
  const DENIES = ['policies/few-estimates.yaml', 'decision: { type: deny,'] as const
  const MODEL = ['agents/estimator.yaml', 'name: small,'] as const
  test.each<[string, readonly [file: string, at: string], string]>([
    ['approvals_required: two', DENIES, 'doc/schema'],
    ['approvals_required: 0', DENIES, 'approval/count-range'],
    ['on_reject: banana', DENIES, 'approval/on-reject-value'],
    ['on_modify: re-validate', DENIES, 'approval/on-modify-value'],
    ['comprehension_required: yes', DENIES, 'doc/yaml11-boolean'],
    ['timeout: { after_minutes: 0, default: deny }', DENIES, 'approval/timeout-range'],
    ['timeout: { after_minutes: 5, default: maybe }', DENIES, 'doc/schema'],
    ['timeout: { minutes: 5, default: deny }', DENIES, 'doc/unknown-key'],
    ['base_url: localhost', MODEL, 'doc/schema'],
    ['base_url: http://models.example/v1', MODEL, 'doc/schema'],
    ['base_url: 5', MODEL, 'doc/schema'],
    ['base_url: ""', MODEL, 'doc/schema'],
    ['header: Host', ['agents/desk.yaml', 'scheme: bearer,'], 'mcp/header-invalid'],
    ['header: 5', ['agents/desk.yaml', 'scheme: bearer,'], 'doc/unquoted-scalar'],
    ['version: []', ['tools/lookup.yaml', 'input_schema:'], 'doc/schema'],
    ['on_limit: -1', ['agents/estimator.yaml', 'limits: {'], 'doc/schema'],
  ])('%s', (field, [file, at], rule) => {
    const written = at.endsWith(':') ? `${at}\n    ${field}` : `${at} ${field},`
    expect(found({ [file]: whole[file]!.replace(at, written) })).toEqual([`${file} ${rule}`])
  })

  test('whatever else of its kind is reported beside it', () => {
    const file = 'policies/few-estimates.yaml'
    const text = whole[file]!.replace('type: deny,', 'type: deny, approvals_required: 0, on_reject: fail,')
    expect(found({ [file]: text })).toEqual([`${file} approval/count-range`, `${file} approval/fields-ignored`])
  })
})

describe('a key that is misspelt is one finding', () => {
  test.each(named(spots('keys')))('%s', (_, spot) => {
    expect(found(written(spot, (key) => `${key.slice(0, -1)}x`))).toEqual([`${spot.file} doc/unknown-key`])
  })
})

describe('a key that nobody knows is one finding', () => {
  // A document without a kind is told of its kind.
  const known = spots('keys').filter(({ pointer }) => pointer !== '/kind')
  test.each(named(known.filter((_, at) => at % 5 === 0)))('%s', (_, spot) => {
    expect(found(written(spot, () => 'zzzz'))).toEqual([`${spot.file} doc/unknown-key`])
  })
})

/** The name of a Tool that two agents bind: each reference leads nowhere, and each is the place of a remedy. */
const TWICE = /^tools\/lookup.yaml \/metadata\/name(?:space)?$/

describe('a text that lacks a letter is at most one finding', () => {
  const names = spots('texts').filter(({ pointer }) => !/purpose|description|reason|owner/.test(pointer))
  test.each(named(names))('%s', (name, spot) => {
    const middle = (text: string): string => {
      const at = Math.floor(text.length / 2)
      return text.slice(0, at) + text.slice(at + 1)
    }
    const findings = found(written(spot, middle))
    expect(findings).toEqual(
      TWICE.test(name)
        ? ['agents/desk.yaml tool/unresolved', 'agents/estimator.yaml tool/unresolved']
        : findings.slice(0, 1),
    )
  })
})

describe('a number where a text should be is at most one finding', () => {
  const texts = spots('texts').filter(({ pointer }) => !/conditions/.test(pointer))
  test.each(named(texts.filter((_, at) => at % 3 === 0)))('%s', (_, spot) => {
    const findings = found(written(spot, () => '17'))
    expect(findings).toEqual(findings.slice(0, 1))
  })
})

/** What replacing a use of something leaves behind is a fault of its own. */
const UNUSED = { 'secret/unused': 'off', 'policy/unused-document': 'off' } as const

describe('what follows from a fault', () => {
  test.each([
    [
      'secrets that are a list',
      'agents/desk.yaml',
      'secrets:\n  model-key: { fromEnv: MODEL_KEY }\n  search-key: { fromEnv: SEARCH_KEY }\n',
      'secrets: [model-key, search-key]\n',
      'doc/schema',
    ],
    [
      'a decision of which only the type is written',
      'policies/few-estimates.yaml',
      'decision: { type: deny, reason: Estimates are not delegated further. }',
      'type: deny',
      'doc/misplaced-key',
    ],
    [
      'servers that are a mapping',
      'agents/desk.yaml',
      /    - name: search\n.*\n.*\n/,
      '    search: { url: https://search.example/mcp, auth: { scheme: bearer, secret: search-key } }\n',
      'doc/schema',
    ],
    [
      'a secret whose name is none',
      'agents/desk.yaml',
      'name: large, secret: model-key',
      'name: large, secret: Model Key',
      'doc/schema',
    ],
    [
      'a token in the address of a server that has no other',
      'agents/desk.yaml',
      /mcp\n      auth: .*\n/,
      'mcp?token=abc\n',
      'secret/in-url',
    ],
    [
      'a path that is bound late',
      'agents/desk.yaml',
      '      policies: [acme.few-estimates]\n',
      '      late_bound: true\n',
      'subagent/ref-form',
    ],
  ])('is not told: %s', (_, file, from, to, rule) => {
    expect(found({ [file]: whole[file]!.replace(from, to) }, { rules: UNUSED })).toEqual([`${file} ${rule}`])
  })

  const misspelt = { 'agents/desk.yaml': whole['agents/desk.yaml']!.replace('ref: pay.transfer', 'ref: pay.tranfer') }

  test('is reported when the fault itself is not', () => {
    expect(found(misspelt)).toEqual(['agents/desk.yaml tool/unresolved'])
    expect(found(misspelt, { rules: { 'tool/unresolved': 'off' } })).toEqual([
      'agents/desk.yaml policy/scope-mismatch',
      'agents/desk.yaml policy/scope-mismatch',
      'bundle.yaml bundle/lock-missing',
      'tools/transfer.yaml tool/unused-document',
    ])
  })

  test('is reported when the fault was made milder than it', () => {
    expect(found(misspelt, { rules: { 'tool/unresolved': 'warn' } })).toEqual([
      'agents/desk.yaml tool/unresolved',
      'agents/desk.yaml policy/scope-mismatch',
      'agents/desk.yaml policy/scope-mismatch',
    ])
  })

  test('is reported when only the file was asked for in which it shows', () => {
    const files = { ...whole, 'tools/lookup.yaml': whole['tools/lookup.yaml']!.replace('kind: Tool', 'kind: Thing') }
    const told = (focus: string[]) =>
      lintWorkspace(loadFiles(files, { focus })).map(({ path, rule }) => `${path} ${rule}`)
    expect(told(['agents/estimator.yaml'])).toEqual(['agents/estimator.yaml tool/unresolved'])
    expect(told(['tools'])).toEqual(['tools/lookup.yaml doc/kind-unknown'])
  })

  test('does not hide faults of other names', () => {
    expect(
      found({
        'agents/desk.yaml': whole['agents/desk.yaml']!.replace('ref: pay.transfer', 'ref: pay.tranfer').replace(
          'acme.office-hours',
          'acme.ofice-hours',
        ),
        'tools/old.yaml':
          'apiVersion: svc/v1\nkind: Tool\nmetadata: { name: old, namespace: acme, version: 1.0.0 }\nspec: {}\n',
      }),
    ).toEqual([
      'agents/desk.yaml tool/unresolved',
      'agents/desk.yaml policy/attachment-missing',
      'tools/old.yaml tool/unused-document',
    ])
  })
})
