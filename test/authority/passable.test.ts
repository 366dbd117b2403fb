import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { findPassableCall } from '../../src/authority/passable.ts'
import { readCondition } from '../../src/policy/condition/condition.ts'
import { decideByPolicies } from '../../src/policy/decide.ts'
import type { CallFacts } from '../../src/policy/condition/decision.ts'
import { entryIdOf, sealSet } from '../../src/policy/policy-set.ts'
import type { PolicyEffect, ApprovalObligations, PolicyEntry } from '../../src/spec/policy-set.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import { checkValue } from '../../src/tools/check/check.ts'

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'integer', minimum: 1 }, to: { type: 'string', maxLength: 2 } },
  additionalProperties: false,
}

interface Written {
  readonly effect: PolicyEffect
  readonly when?: string
  readonly allow?: readonly string[]
  readonly obligations?: ApprovalObligations
}

/** Whether a call passes the policies, which are named p0, p1 and so on. */
function ask(
  policies: readonly Written[],
  given: { readonly where?: string; readonly attended?: true; readonly effects?: SideEffectClass } = {},
) {
  const entries = policies.map(({ effect, when, allow, obligations = {} }, index): PolicyEntry => {
    const content = {
      policy: `acme.p${index}`,
      version: '1.0.0',
      effect,
      ...(when !== undefined && { when: { when } as JsonObject }),
      ...(allow && { allow: { field: 'args.to', values: allow } }),
      obligations,
      origin: [],
    }
    return { ...content, id: entryIdOf(content) }
  })
  const set = sealSet({
    v: 1,
    compiler: '1',
    agent: 'acme.a',
    entries,
    index: { pay: entries.map(({ id }) => id) },
    inherited: [],
  })
  const callee: CallFacts['tool'] = {
    id: 'acme.pay',
    version: '1.0.0',
    wire_name: 'pay',
    kind: 'tool',
    labels: {},
    side_effect_class: given.effects ?? 'idempotent_write',
  }
  const factsOf = (args: JsonValue, context: JsonObject): CallFacts =>
    ({
      args,
      tool: callee,
      agent: { id: 'acme.a', version: '1.0.0', classifications: [], labels: {} },
      run: { taint: context['run.taint'] ?? false, depth: context['run.depth'] ?? 0 },
    }) as unknown as CallFacts
  const where = given.where === undefined ? undefined : readCondition({ when: given.where }).condition
  const answer = findPassableCall({
    sets: { own: set, ancestors: [] },
    callee,
    schemas: [SCHEMA],
    unattended: given.attended === undefined,
    ...(where && { where }),
    factsOf,
    accepts: (args) => checkValue(SCHEMA, args).length === 0,
  })
  const { witness } = answer
  const replayed =
    witness && decideByPolicies({ own: set, ancestors: [] }, 'pay', factsOf(witness.arguments, witness.context))
  expect(replayed?.decision).toBe(witness?.decision)
  return [answer.can, answer.by, witness?.arguments]
}

const over100: Written = { effect: 'require_approval', when: 'args.amount > 100' }

describe('whether a call can pass', () => {
  test('is answered by a proof that none can, with the policies that prove it', () => {
    expect(ask([over100], { where: 'args.amount > 100' })).toEqual(['never', ['acme.p0@1.0.0'], undefined])
    expect(ask([{ effect: 'deny' }], { attended: true })).toEqual(['never', ['acme.p0@1.0.0'], undefined])
    expect(ask([{ effect: 'deny', when: 'args.amount >= 1' }], { attended: true })[0]).toBe('never')
    expect(ask([{ effect: 'restrict', allow: ['DE'] }], { where: 'args.to == "US"' })[0]).toBe('never')
    expect(ask([], { effects: 'irreversible_action' })[0]).toBe('never')
    expect(ask([{ effect: 'deny', when: 'args.to == "DE"' }], { where: 'not args.to exists' })[0]).toBe('never')
  })

  test('is answered by a call that does', () => {
    expect(ask([over100])).toEqual(['yes', [], { amount: 1 }])
    expect(ask([over100], { where: 'args.amount > 100', attended: true })).toEqual([
      'yes',
      ['acme.p0@1.0.0'],
      { amount: 101 },
    ])
    expect(ask([{ effect: 'restrict', allow: ['DE'] }])).toEqual(['yes', ['acme.p0@1.0.0'], { amount: 1, to: 'DE' }])
    expect(ask([{ effect: 'grant', when: 'args.amount < 50' }], { effects: 'irreversible_action' })[0]).toBe('yes')
    expect(ask([{ effect: 'deny', when: 'not run.taint == true' }])[0]).toBe('yes')
  })

  test('does not count an approval by timeout as a person', () => {
    const timed: Written = { ...over100, obligations: { timeout: { after_minutes: 5, default: 'allow' } } }
    expect(ask([timed], { where: 'args.amount > 100' })[0]).toBe('yes')
  })

  test('is not proven if there is neither a proof nor a call', () => {
    expect(ask([{ effect: 'deny', when: 'not args.to matches "^[a-c]{2}$"' }])[0]).toBe('not_proven')
  })
})
