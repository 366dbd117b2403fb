import { expect, test } from 'vitest'
import { isFailure } from '../../src/base/failure.ts'
import { operations } from '../../src/operations/operations.ts'
import { parseOperatorBody, parseOperatorQuery } from '../../src/server/http/validate-operator.ts'

/** Names of all members that some request has, each with a value that hardly any member takes. */
const members = Object.values(operations).flatMap((each) => {
  const { body, query = {} } = each as {
    readonly body?: { readonly schema?: object } | 'bytes'
    readonly query?: object
  }
  const { properties = {} } = (typeof body === 'object' && body.schema ? body.schema : {}) as { properties?: object }
  return [...Object.keys(properties), ...Object.keys(query)]
})
const NOT_A_UUID = '00000000-0000-0000-0000-00000000000g'
const everywhere = (value: unknown) => Object.fromEntries(members.map((name) => [name, value]))
const BODIES = [
  null,
  7,
  [],
  {},
  everywhere(null),
  everywhere({ x: 1 }),
  everywhere(NOT_A_UUID),
  everywhere([NOT_A_UUID]),
]

/** @returns what a request is refused with, and at how many places; undefined where it is taken */
async function refusalOf(parsed: Promise<unknown>): Promise<readonly [string, number] | undefined> {
  try {
    await parsed
    return undefined
  } catch (error) {
    if (!isFailure(error)) throw error
    return [error.code, error.extras.details?.length ?? 0]
  }
}

test('whatever a route refuses, it says why: the checks that find one fault and all faults agree', async () => {
  let refused = 0
  for (const route of Object.keys(operations)) {
    const bodies = BODIES.map((body) => parseOperatorBody(route, body))
    const queries = ['', 'x'].map((value) =>
      parseOperatorQuery(route, new URLSearchParams(members.map((name) => [name, value]))),
    )
    for (const refusal of await Promise.all([...bodies, ...queries].map(refusalOf))) {
      if (!refusal) continue
      refused++
      expect([route, refusal[0], refusal[1] > 0]).toEqual([route, 'validation_failed', true])
    }
  }
  expect(refused).toBeGreaterThan(200)
})

test('all faults of a request are named, each at its place', async () => {
  const refused = parseOperatorBody('POST /keys', { agent: 7, trigger: null })
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    extras: { details: [{ path: '/agent' }, { path: '/trigger' }] },
  })
})
