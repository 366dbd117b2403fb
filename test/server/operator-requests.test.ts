import { expect, test } from 'vitest'
import { openFixture } from './fixtures.ts'

const AGENT = { agent: 'acme.desk' }

/** Every field that is wrong, by its place, from the schema of the route. */
test.each<[string, unknown, readonly (readonly [string, string])[]]>([
  ['POST /publish', {}, [['/bundle', 'is required']]],
  ['POST /publish', [], [['', 'must be an object']]],
  [
    'POST /publish',
    { bundle: { agents: {}, documents: 1 }, deploy: 'yes' },
    [
      ['/bundle/closureDigest', 'is required'],
      ['/bundle/agents', 'must be an array'],
      ['/bundle/documents', 'must be an array'],
      ['/deploy', 'must be true or false'],
    ],
  ],
  [
    'POST /publish',
    { bundle: { agents: [1], documents: [], closureDigest: '' } },
    [['/bundle/agents/0', 'is no snapshot']],
  ],
  ['POST /deploy', { agent: '' }, [['/agent', 'must have 1 to 300 characters']]],
  ['POST /deploy', { ...AGENT, rollback: true, version: '1.0.0' }, [['/rollback', 'cannot come with version']]],
  [
    'POST /yank',
    { kind: 'Bundle', id: 7 },
    [
      ['/version', 'is required'],
      ['/yanked', 'is required'],
      ['/kind', 'must be Agent, Tool or Policy'],
      ['/id', 'must be a string'],
    ],
  ],
  [
    'POST /triggers',
    { type: 'api', name: '', ratePerDay: 1.5, maxConcurrentRuns: 'many', allowIps: [1] },
    [
      ['/agent', 'is required'],
      ['/name', 'must have 1 to 100 characters'],
      ['/allowIps/0', 'must be a string'],
      ['/ratePerDay', 'must be an integer from 1'],
      ['/maxConcurrentRuns', 'must be an integer from 1'],
    ],
  ],
  [
    'POST /keys',
    { ...AGENT, trigger: 'api', expiresInSeconds: 0 },
    [['/expiresInSeconds', 'must be an integer from 1']],
  ],
  [
    'POST /operator-keys',
    { email: 'eva', roles: ['ok', ' a', 'a and b', 'x'.repeat(101), 1] },
    [
      ['/email', 'must be an email address'],
      ['/roles/1', 'must be the name of one role, of at most 100 characters'],
      ['/roles/2', 'must be the name of one role, of at most 100 characters'],
      ['/roles/3', 'must be the name of one role, of at most 100 characters'],
      ['/roles/4', 'must be a string'],
    ],
  ],
  ['POST /runs', { ...AGENT, rehearsal: { model: 'x' } }, [['/rehearsal/model', 'must have 3 to 300 characters']]],
  ['POST /restored/release', { run: 1 }, [['/run', 'must be a string']]],
  ['POST /runs/fork', { runs: [], at: 1 }, [['/runs', 'must have at least 1 entry']]],
  ['GET /versions', undefined, [['/agent', 'is required']]],
  ['GET /snapshot', undefined, [['/agent', 'is required without digest']]],
  [
    'GET /documents?kind=Agent',
    undefined,
    [
      ['/id', 'is required'],
      ['/kind', 'must be Tool or Policy'],
    ],
  ],
  [
    'GET /runs?waiting=1&take=0&skip=-1&ending=xyz',
    undefined,
    [
      ['/ending', 'must be the hexadecimal end of an id'],
      ['/waiting', 'must be true or false'],
      ['/skip', 'must be an integer from 0'],
      ['/take', 'must be an integer from 1 to 500'],
    ],
  ],
  ['GET /runs?since=noon', undefined, [['/since', 'must be a time']]],
  ['GET /logs?level=trace', undefined, [['/level', 'must be debug, info, warn or error']]],
  ['GET /files/content', undefined, [['/key', 'is required']]],
])('%s with %j names each field that is wrong', async (line, body, places) => {
  const response = await openFixture().operatorRaw(line, body)
  const { error, code, details } = (await response.json()) as Record<string, unknown>
  expect([response.status, code, details]).toEqual([
    400,
    'validation_failed',
    places.map(([path, message]) => ({ path, message })),
  ])
  const [[path, message]] = places as [readonly [string, string]]
  expect(error).toMatch(/^The (body|query|bundle) is not valid: /)
  expect(error).toContain(`${path === '' ? '' : `${path} `}${message}.`)
})

test.each([
  ['GET /runs?waiting=false&take=500&skip=0&ending=0A-1f', undefined],
  ['GET /tasks?all=true&unknown=1', undefined],
  ['POST /restored/release', undefined],
])('%s is accepted', async (line, body) => {
  expect((await openFixture().operatorRaw(line, body)).status).toBe(200)
})
