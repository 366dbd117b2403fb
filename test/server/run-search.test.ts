/** The search of runs through a whole server. Source: docs/design/command-line.md#driving */
import { expect, test } from 'vitest'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { DESK, policiesFor, running, tool } from './running.ts'
import { snapshotOf } from './fixtures.ts'

const PAYING = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [{ call: { tool: 'pay', arguments: { order: '${input.order}' } } }, { say: 'Paid ${input.order}.' }],
  },
  tools: [
    tool('acme.pay', {
      sideEffectClass: 'non_idempotent_write',
      labels: { 'svc/effect-key': 'refund:{args.order}', 'svc/effect-repeat': 'refuse' },
    }),
  ],
  policies: policiesFor('pay'),
})

test('an operator finds runs by what was said, by id, tool, effect key, metadata, and by what goes with them', async () => {
  const house = await running({ snapshot: PAYING, config: { tools: { 'acme.pay': { mock: [{ result: 'ok' }] } } } })
  const ids: string[] = []
  for (const order of ['A-1', 'B-2']) {
    const { body } = await house.start({ order }, { metadata: { team: order } })
    await house.until(body['runId']!, 'engine.session.completed')
    ids.push(body['runId']!)
  }
  const [first, second] = ids
  const find = async (query: string): Promise<readonly string[]> =>
    ((await house.operator(`GET /runs?${query}`)) as OperatorRoutes['GET /runs']['answer']).items.map(
      ({ runId }) => runId,
    )
  expect(await find('search=a-1')).toEqual([first])
  expect(await find('search=paid')).toEqual([second, first])
  expect(await find('search=paid&take=1&skip=1')).toEqual([first])
  expect(await find(`search=${second!.slice(-6)}`)).toEqual([second])
  expect(await find('tool=acme.pay')).toEqual([second, first])
  expect(await find('tool=acme.other')).toEqual([])
  expect(await find('effect=refund:B-2')).toEqual([second])
  expect(await find('label=team%3DA-1&roots=true')).toEqual([first])
  expect(await find('search=paid&status=Failed')).toEqual([])
  expect(await find('approver=ana@acme.example')).toEqual([])
  await expect(find('label=team')).rejects.toThrow('must be a name, = and a value')
})
