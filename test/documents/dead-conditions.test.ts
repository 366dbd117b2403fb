import { describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'
import { quiet } from './quiet.ts'

const PROPERTIES =
  'currency: {enum: [USD, CAD]}, country: {type: string, maxLength: 2}, count: {type: integer}, items: {type: array, items: {type: object, properties: {sku: {type: string}}}}'

/** Findings about one gate of a tool, as `rule: message -> fix`. */
function findingsAbout(conditions: string): readonly string[] {
  const files = complete({
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': `kind: Tool\nspec:\n  input_schema: {inline: {type: object, required: [currency, country, count, items], properties: {${PROPERTIES}}, additionalProperties: false}}\n`,
    'policy.yaml': `kind: Policy\nspec: {conditions: ${conditions}}\n`,
  })
  const rules = { ...quiet, 'tool/class-missing': 'off', 'schema/unbounded-string': 'off' } as const
  return lintWorkspace(loadFiles(files), { rules }).map(
    ({ rule, message, fix }) => `${rule}: ${message}${fix ? ` -> ${fix.edits[0]?.text ?? fix.description}` : ''}`,
  )
}

describe('a comparison that no call brings about is an error, with the value that was meant', () => {
  test.each<[string, string]>([
    [
      '{field: run.trigger_type, value: schedule}',
      'policy/never-true: `run.trigger_type == "schedule"` is never true: the value is "api" or "scheduled" or "operator". -> scheduled',
    ],
    [
      '{field: principal.type, value: user}',
      'policy/never-true: `principal.type == "user"` is never true: the value is "api_key" or "operator" or "schedule". -> Write one of api_key, operator, schedule.',
    ],
    [
      '{field: tool.side_effect_class, value: irreversible}',
      'policy/never-true: `tool.side_effect_class == "irreversible"` is never true: the value is "read_only" or "idempotent_write" or "non_idempotent_write" or "irreversible_action". -> irreversible_action',
    ],
    [
      '{field: lower(args.currency), value: USD}',
      'policy/never-true: `lower(args.currency) == "USD"` is never true: the value is "usd" or "cad". -> usd',
    ],
    [
      '{field: lower(args.country), value: US}',
      'policy/never-true: `lower(args.country) == "US"` is never true: lower() leaves no capital letters. -> us',
    ],
    [
      '{field: args.country, value: GERMANY}',
      'policy/never-true: `args.country == "GERMANY"` is never true: there is no such value.',
    ],
    [
      '{not: {field: args.currency, op: in, value: [USD, CAD]}}',
      'policy/never-true: `args.currency in ["USD","CAD"]` is never false: the value is "USD" or "CAD".',
    ],
    [
      '{any: [{field: args.currency, value: GBP}, {field: args.currency, value: USD}]}',
      'policy/never-true: `args.currency == "GBP"` is never true: the value is "USD" or "CAD". -> Write one of USD, CAD.',
    ],
    [
      '{all: [{field: args.currency, value: CAD}, {field: lower(args.currency), value: usd}]}',
      'policy/contradiction: These conditions never hold together.',
    ],
    [
      '{field: run.taint, value: "true"}',
      'policy/type-mismatch: run.taint is boolean; `eq` compares it with "true". -> true',
    ],
    [
      '{field: length(args.count), op: gt, value: 3}',
      'policy/type-mismatch: length() has no result for args.count, which is integer. -> args.count',
    ],
    [
      '{field: args.items.sku, value: x}',
      'policy/field-not-in-schema: args.items is array: the path leads nowhere. -> Write `args.items[*].sku` with `each: any` or `each: all`.',
    ],
    [
      '{field: args.count, op: gt, value: 3, each: any}',
      'policy/field-not-in-schema: args.count is integer: the path leads nowhere. -> Leave out `each` and `[*]`: they are for lists.',
    ],
  ])('%s', (conditions, finding) => {
    expect(findingsAbout(conditions)).toEqual([finding])
  })
})

test('what some call brings about is no error', () => {
  expect(
    findingsAbout(
      '{any: [{field: args.country, op: starts_with, value: D}, {field: length(args.items), op: gt, value: 3}, {field: lower(args.currency), value: usd}]}',
    ),
  ).toEqual([])
})

test('findings about a condition on one line point into its text, and the text is kept', () => {
  const text = 'args.amount > 5 and run.trigger_type == "schedule"'
  const written = `spec:\n  conditions:\n    when: ${text}\n  decision: {type: deny, reason: r}\n`
  const files = complete({ 'policy.yaml': `kind: Policy\n${written}` })
  const found = lintWorkspace(loadFiles(files), { rules: quiet })
  const source = files['policy.yaml']!
  expect(
    found.map(({ rule, range, fix }) => [rule, source.slice(range.start.offset, range.end.offset), fix?.edits]),
  ).toEqual([['policy/never-true', '"schedule"', []]])
})
