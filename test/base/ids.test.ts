import { expect, test } from 'vitest'
import { agentIdOf, createIds, eventIdOf, isUuid, versionIdOf, type StepId } from '../../src/base/ids.ts'

test('ids of one maker sort in the order they were made, also within a millisecond and when the clock steps back', () => {
  const times = [1000, 1000, 1000, 999, 5, 1001]
  const ids = createIds(() => times.shift() ?? 1001)
  const made = Array.from({ length: 10_000 }, () => ids.next())
  expect([...made].sort()).toEqual(made)
  expect(new Set(made).size).toBe(10_000)
  expect(made.every(isUuid)).toBe(true)
})

test('an id begins with the time in milliseconds and says version 7', () => {
  const id = createIds(
    () => Date.parse('2026-11-21T00:00:00Z'),
    (bytes) => bytes.fill(0xab),
  ).next()
  expect(id).toBe('01a1fb67-1800-7000-abab-abababababab')
})

test('ids of agents and versions are the same on every machine', () => {
  expect(agentIdOf('default', 'acme.refund-desk')).toBe(agentIdOf('default', 'acme.refund-desk'))
  expect(agentIdOf('default', 'acme.refund-desk')).not.toBe(agentIdOf('other', 'acme.refund-desk'))
  expect(versionIdOf('default', 'acme.refund-desk', 'sha256:aa')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
})

test('the event of a step has its id in version 8', () => {
  const step = '01a1fd3f-fc66-7002-a6fe-cd3e155b0c64' as StepId
  expect(eventIdOf(step)).toBe('01a1fd3f-fc66-8002-a6fe-cd3e155b0c64')
  expect(isUuid(eventIdOf(step))).toBe(true)
})
