/** Forms of single values that the authoring format allows, and those that it does not. The examples of rules show one of each. */
import { describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'

type Files = Readonly<Record<string, string>>

/** The rules that find an error. */
const errorsOf = (files: Files): string[] =>
  lintWorkspace(loadFiles(complete(files)))
    .filter(({ severity }) => severity === 'error')
    .map(({ rule }) => rule)

const agent = (spec: string, beside = ''): Files => ({ 'agent.yaml': `kind: Agent\n${beside}spec: { ${spec} }\n` })
const metadata = (written: string): Files => ({ 'tool.yaml': `kind: Tool\nmetadata: { ${written} }\n` })
const policy = (spec: string): Files => ({ 'policy.yaml': `kind: Policy\nspec: { ${spec} }\n` })
const baseUrl = (url: string): Files =>
  agent(
    `model: { provider: vendor_b-compatible, name: m, secret: key, base_url: '${url}' }`,
    'secrets: { key: { fromEnv: VENDOR_B_KEY } }\n',
  )
const toolRef = (ref: string): Files => ({
  'tool.yaml': 'kind: Tool\n',
  ...agent(`tools: [{ ref: '${ref}' }], limits: { max_loop_iterations: 5 }`),
})
const instructions = (ref: string): Files => ({
  ...agent(`instructions: { ref: '${ref}' }`),
  'prompts/system.md': 'Help.\n',
})
const scope = (written: string): Files => ({
  ...toolRef('pay.refund@^1'),
  ...policy(`scope: '${written}', decision: { type: deny }`),
})

interface ValueForm {
  readonly field: string
  readonly write: (value: string) => Files
  readonly good: readonly string[]
  /** By the rule that refuses them. */
  readonly bad: Readonly<Record<string, readonly string[]>>
}

const FORMS: readonly ValueForm[] = [
  {
    field: 'metadata.version',
    write: (value) => metadata(`version: '${value}'`),
    good: ['1.0.0', '0.1.0', '10.20.30', '1.0.0-rc.1', '1.0.0+build.5', '1.0.0-alpha+1'],
    bad: {
      'id/invalid-semver': ['1', '1.0', 'v1.0.0', '1.0.0.0', '01.0.0', '1.0.0-', 'latest', '^1.0.0', ' 1.0.0'],
    },
  },
  {
    field: 'metadata.namespace',
    write: (value) => metadata(`namespace: '${value}'`),
    good: ['pay.cards'],
    bad: { 'id/unaddressable': ['pay@home'] },
  },
  {
    field: 'spec.instructions.ref',
    write: instructions,
    good: ['prompts/system.md'],
    bad: { 'bundle/path-escape': ['/etc/passwd', '../outside.md', 'a/../../b.md', String.raw`a\b.md`] },
  },
  {
    field: 'spec.model.base_url',
    write: baseUrl,
    good: ['https://llm.example/v1', 'http://localhost:11434/v1', 'HTTPS://llm.example', 'http://[::1]:8080/v1'],
    bad: {
      'model/base-url-invalid': [
        'localhost:8080/v1',
        '/v1',
        'llm.example/v1',
        'ftp://llm.example',
        'http://',
        'http:/llm.example',
        'v1',
      ],
    },
  },
  {
    field: 'spec.tools[].ref',
    write: toolRef,
    good: [
      'pay.refund',
      'pay.refund@1.0.0',
      'pay.refund@^1.0',
      'pay.refund@~1.0.0',
      'pay.refund@>=1 <2',
      'pay.refund@1.x || ^2',
      'pay.refund@*',
    ],
    bad: {
      'tool/ref-syntax': ['refund', 'pay.', '.refund', 'pay refund', 'pay/refund', '@1.0.0', 'tools/refund.yaml'],
      'tool/range-invalid': ['pay.refund@', 'pay.refund@banana', 'pay.refund@^1..3'],
      'tool/unresolved': ['pay.refund@2.0.0'],
    },
  },
  {
    field: 'spec.scope',
    write: scope,
    good: ['tool:pay.refund'],
    bad: {
      'policy/scope-syntax': [
        'pay.refund',
        'tool:refund',
        'tool:',
        'tools:pay.refund',
        'agent:pay.desk',
        'tool:pay.refund@1.0.0',
        'tool:*',
      ],
    },
  },
]

describe.each(FORMS.map((form) => [form.field, form] as const))('%s', (_, { write, good, bad }) => {
  test.each(good)('may be %s', (value) => expect(errorsOf(write(value))).toEqual([]))

  test.each(Object.entries(bad).flatMap(([rule, values]) => values.map((value) => [value, rule] as const)))(
    'must not be %j: %s',
    (value, rule) => expect(errorsOf(write(value))).toEqual([rule]),
  )
})

describe('a condition of another language is one finding, with what to write', () => {
  test.each([
    [
      '{ and: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "and". Did you mean `all`? Write all.',
    ],
    [
      '{ or: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "or". Did you mean `any`? Write any.',
    ],
    [
      '{ none: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "none". Write `not: { any: [ … ] }`, or `not: { all: [ … ] }`.',
    ],
    [
      '{ field: args.amount, gt: 5 }',
      'A comparison has no key "gt". Write `op: gt`, and what it compares with as `value`.',
    ],
    [
      '{ argument: args.amount, op: gt, value: 5 }',
      'A comparison has no key "argument". Did you mean `field`? Write field.',
    ],
  ])('%s', (conditions, expected) => {
    const files = policy(`conditions: ${conditions}, decision: { type: deny }`)
    const found = lintWorkspace(loadFiles(complete(files))).filter(({ severity }) => severity === 'error')
    expect(found.map(({ message, fix }) => `${message} ${fix?.description}`)).toEqual([expected])
  })
})
