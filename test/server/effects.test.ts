/** Effect keys through a whole server: lists and releases of an operator. */
import { expect, test } from 'vitest'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { DESK, policiesFor, running, tool } from './running.ts'
import { snapshotOf } from './fixtures.ts'

const PAYING = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [{ call: { tool: 'pay', arguments: { order: '${input.order}' } } }, { say: 'Paid.' }],
  },
  tools: [
    tool('acme.pay', {
      sideEffectClass: 'non_idempotent_write',
      labels: { 'svc/effect-key': 'refund:{args.order}', 'svc/effect-repeat': 'refuse' },
    }),
  ],
  policies: policiesFor('pay'),
})

type Effects = OperatorRoutes['GET /effects']['answer']

test('an operator sees which call holds a key, and releases it with a reason', async () => {
  const house = await running({ snapshot: PAYING, config: { tools: { 'acme.pay': { mock: [{ result: 'ok' }] } } } })
  const { body } = await house.start({ order: 'A-1' })
  await house.until(body['runId']!, 'engine.session.completed')
  const held = (await house.operator('GET /effects')) as Effects
  expect(held.items).toMatchObject([
    {
      key: 'refund:A-1',
      holds: true,
      outcome: 'done',
      tool: 'acme.pay',
      agent: DESK,
      versionLabel: '1.0.0',
      runId: body['runId'],
      expiresAt: null,
      approvedBy: [],
    },
  ])
  await expect(house.operator('POST /effects/release', { key: 'refund:A-2', reason: 'x' })).rejects.toThrow(
    'No call holds the effect key refund:A-2.',
  )
  await expect(house.operator('POST /effects/release', { key: 'refund:A-1' })).rejects.toThrow('reason')
  await house.operator('POST /effects/release', { key: 'refund:A-1', reason: 'sent back' })
  expect(((await house.operator('GET /effects')) as Effects).items).toEqual([])
  const all = (await house.operator('GET /effects?all=true&key=refund:A-1')) as Effects
  expect(all.items).toMatchObject([
    { holds: false, outcome: 'done', released: { by: 'operator:ana@acme.example', reason: 'sent back' } },
  ])
})
