/**
 * Who may reach what: three workspaces in one store, two agents each, two triggers an agent, and keys in every condition,
 * against every route of the table and every resource. Source: docs/design/http.md#scope
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKeySecret, isWellFormedKey } from '../../src/base/api-key.ts'
import { digestOfJson } from '../../src/base/digest.ts'
import type { Blobs } from '../../src/blobs/blobs.ts'
import { listApiRoutes } from '../../src/server/app.ts'
import { identifyByKey } from '../../src/server/auth/auth.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { NOW, openFixture, type Fixture } from './fixtures.ts'

const WORKSPACES = ['acme', 'beta', 'gamma']
const AGENTS = ['acme.desk', 'acme.clerk']
const TRIGGERS = ['first', 'second']
const UNKNOWN = '019f0000-0000-7000-8000-000000000000'

interface Key {
  readonly name: string
  readonly secret: string | undefined
  readonly workspace?: string
  readonly agent?: string
  readonly trigger?: string
  readonly uploads?: boolean
  /** Code with which every route that needs a key refuses it. */
  readonly refused?: string
}

interface Place {
  readonly name: string
  readonly id: string
  readonly workspace?: string
  readonly agent?: string
  /** Of a run; null = started by an operator. */
  readonly trigger?: string | null
}

const blobs: Blobs = {
  presignPut: async (key) => ({ url: `http://uploads.test/${key}`, headers: {} }),
  head: async () => undefined,
  move: async () => {},
  get: async () => undefined,
  put: async () => {},
  delete: async () => {},
  close: async () => {},
}

/** @param openStore an empty one; in memory where absent */
export function accessMatrix(openStore?: (clock: Clock) => Promise<Store>): void {
  let fixture: Fixture
  const keys: Key[] = []
  const agents: Place[] = []
  const runs: Place[] = []
  const sessions: Place[] = []
  const objects: Place[] = []
  let lookups = 0

  beforeAll(async () => {
    const given =
      openStore && (await openStore({ now: () => fixture?.clock.now() ?? NOW, monotonic: () => performance.now() }))
    fixture = openFixture({ blobs, ...(given && { store: given }) })
    fixture.doors.start = async (request) => ({
      sessionId: UNKNOWN,
      runId: UNKNOWN,
      status: 'Running',
      totalTokensUsed: 0,
      output: null,
      agentId: request.agentId,
    })
    fixture.doors.conversation = async () =>
      ({ session: { input: null, output: null, startContext: null }, runs: [], items: [] }) as never
    fixture.doors.follow = async function* () {}
    for (const workspace of WORKSPACES) {
      const each = workspace === 'acme' ? fixture : openFixture({ workspace, store: fixture.services.store })
      for (const agent of AGENTS) {
        agents.push({ name: `${workspace} ${agent}`, id: await each.deploy(agent), workspace, agent })
        const own = await each.storeRun(agent)
        const ofOperator = { name: `${workspace} ${agent} of an operator`, workspace, agent, trigger: null }
        runs.push({ ...ofOperator, id: own.runId })
        sessions.push({ ...ofOperator, id: own.sessionId })
        for (const trigger of TRIGGERS) await withTrigger(each, workspace, agent, trigger)
      }
    }
    await outOfUse()
    agents.push({ name: 'an unknown agent', id: UNKNOWN }, { name: 'no id', id: 'x' })
    runs.push({ name: 'an unknown run', id: UNKNOWN }, { name: 'no id', id: 'x' })
    sessions.push({ name: 'an unknown session', id: UNKNOWN }, { name: 'no id', id: 'x' })
    objects.push({ name: 'an unknown object', id: 'x/files/y' })
    const { store } = fixture.services
    const keyByHash = store.keyByHash.bind(store)
    store.keyByHash = (hash) => (lookups++, keyByHash(hash))
  })

  afterAll(() => fixture.services.store.close())

  async function withTrigger(each: Fixture, workspace: string, agent: string, trigger: string): Promise<void> {
    const uploads = trigger === 'first'
    const made = await each.keyFor(agent, { trigger: { name: trigger }, key: { allowUploads: uploads } })
    const name = `${workspace} ${agent} ${trigger}`
    keys.push({ name, secret: made.secret, workspace, agent, trigger, uploads })
    const { runId, sessionId, childId } = await each.storeRun(agent, { triggerId: made.triggerId, child: true })
    const where = { workspace, agent, trigger }
    runs.push({ name, id: runId, ...where }, { name: `${name}, a sub-agent`, id: childId, ...where })
    sessions.push({ name, id: sessionId, ...where })
    const id = `${each.services.workspace.id}/files/${name.replaceAll(' ', '-')}`
    const now = each.clock.now()
    await each.services.store.presignFile(
      {
        id: each.services.ids.next(),
        workspaceId: each.services.workspace.id,
        objectKey: id,
        stagingKey: `${id}-staging`,
        filename: name,
        mediaType: 'text/plain',
        maxBytes: 10,
        sizeBytes: null,
        createdAt: now,
        expiresAt: now + 900_000,
        finalizedAt: null,
      },
      null,
    )
    objects.push({ name, id, workspace })
  }

  /** Keys that were good once, and what never was one. */
  async function outOfUse(): Promise<void> {
    const make = async (name: string, key = {}, trigger = {}) =>
      fixture.keyFor('acme.desk', { trigger: { name, ...trigger }, key })
    const revoked = await make('revoked')
    await fixture.operator('POST /keys/:id/revoke', { id: revoked.keyId })
    const expired = await make('expired', { expiresInSeconds: 60 })
    fixture.clock.wind(60_000)
    const asleep = await make('asleep')
    await fixture.operator('PATCH /triggers/:id', { id: asleep.triggerId, body: { active: false } })
    const gone = await make('gone')
    await fixture.operator('DELETE /triggers/:id', { id: gone.triggerId })
    const elsewhere = await make('elsewhere', {}, { allowIps: ['10.0.0.0/8'] })
    const good = keys[0]!.secret!
    const refused = 'invalid_api_key'
    keys.push(
      { name: 'none', secret: undefined, refused: 'missing_api_key' },
      { name: 'empty', secret: '', refused: 'missing_api_key' },
      { name: 'revoked', secret: revoked.secret, refused },
      { name: 'expired', secret: expired.secret, refused },
      { name: 'unknown', secret: createApiKeySecret(), refused },
      { name: 'of an inactive trigger', secret: asleep.secret, refused: 'trigger_inactive' },
      { name: 'of a trigger that is gone', secret: gone.secret, refused: goneCode },
      { name: 'from another address', secret: elsewhere.secret, refused: 'ip_not_allowed' },
      ...malformed(good).map((secret) => ({ name: `malformed ${JSON.stringify(secret)}`, secret, refused })),
    )
  }

  /** A trigger that is deleted takes its keys along. */
  const goneCode = 'invalid_api_key'

  const malformed = (good: string): string[] => [
    'svc_',
    'svc_nonsense',
    `svc_${'0'.repeat(38)}`,
    good.slice(0, -1),
    `${good}0`,
    good.toUpperCase(),
    `Bearer ${good}`,
    good.replace('svc_', 'svx_'),
    good.slice(0, 10) + (good[10] === 'a' ? 'b' : 'a') + good.slice(11),
    good.slice(0, -1) + (good.endsWith('a') ? 'b' : 'a'),
  ]

  /** What the document says: a status for who may, a code for who may not. */
  function expected(
    key: Key,
    kind: 'agent' | 'run' | 'session' | 'presign' | 'object' | 'task',
    place: Place,
    status: number,
  ) {
    if (key.refused !== undefined) return key.refused
    if (kind === 'task') return status === 404 ? 'not_found' : status
    if ((kind === 'presign' || kind === 'object') && !key.uploads) return 'uploads_not_allowed'
    if (kind === 'presign') return status
    if (place.workspace !== key.workspace) return 'not_found'
    if (kind === 'object') return 'not_uploaded'
    if (place.agent !== key.agent) return agents.includes(place) ? 'agent_out_of_scope' : 'run_out_of_scope'
    const isOther = place.trigger !== null && place.trigger !== key.trigger
    if ((kind === 'run' || kind === 'session') && isOther) return 'run_out_of_scope'
    // No trigger here allows it.
    return status === 403 ? 'delete_not_allowed' : status
  }

  const STATUS: Readonly<Record<string, number>> = {
    'POST /v1/agents/:agentId/runs': 202,
    'GET /v1/agents/:agentId/sessions': 200,
    'GET /v1/runs/:runId': 200,
    'GET /v1/runs/:runId/conversation': 200,
    'GET /v1/runs/:runId/stream': 200,
    'POST /v1/runs/:runId/input': 202,
    'POST /v1/runs/:runId/messages': 202,
    'POST /v1/runs/:runId/cancel': 202,
    'POST /v1/runs/:runId/signals/:name': 202,
    'GET /v1/runs/:runId/values/:digest': 200,
    'GET /v1/sessions/:sessionId': 200,
    'PATCH /v1/sessions/:sessionId': 200,
    'DELETE /v1/sessions/:sessionId': 403,
    'GET /v1/tasks': 200,
    'GET /v1/tasks/:taskId': 404,
    'POST /v1/file-library/presign': 200,
    'POST /v1/file-library/finalize': 409,
  }
  /** Who may reach which task: `tasks.test.ts`. */
  const NO_TASK: Place = { name: 'an unknown task', id: UNKNOWN }

  /** The input of every stored run. */
  const INPUT = digestOfJson({ order: 'A-1042' })

  /** Both triggers show their timeline, so a session's own values are listed for both. */
  const isListed = (line: string, place: Place): boolean =>
    line.endsWith('/:digest') && !place.name.endsWith('a sub-agent')

  /** The token of a completion is its only authority: `outside.test.ts`. */
  const OPEN = ['GET /v1/openapi.json', 'GET /v1/healthz', 'POST /v1/completions/:token']

  test('every route is in the matrix', () => {
    const lines = listApiRoutes(fixture.services, identifyByKey).map(({ method, path }) => `${method} ${path}`)
    expect(lines.toSorted()).toEqual([...Object.keys(STATUS), ...OPEN].toSorted())
  })

  test.each(Object.keys(STATUS))('%s', async (line) => {
    const [method, path] = line.split(' ') as [string, string]
    const kind = path.includes(':agentId')
      ? 'agent'
      : path.includes(':runId')
        ? 'run'
        : path.includes(':sessionId')
          ? 'session'
          : path.includes('/tasks')
            ? 'task'
            : path.endsWith('presign')
              ? 'presign'
              : 'object'
    const places = {
      agent: agents,
      run: runs,
      session: sessions,
      object: objects,
      presign: objects.slice(0, 1),
      task: [NO_TASK],
    }[kind]
    const seen: unknown[] = []
    const should: unknown[] = []
    const bodies = new Map<string, Set<string>>()
    for (const key of keys)
      for (const place of places) {
        fixture.clock.wind(100)
        const response = await fixture.api(
          path.replace(':digest', INPUT).replace(':name', 'paid').replace(/:\w+/, place.id),
          {
            method,
            ...(key.secret !== undefined && { key: key.secret }),
            ...((method === 'POST' || method === 'PATCH') && { json: bodyOf(path, place) }),
          },
        )
        const text = await response.text()
        const refusal = response.ok ? undefined : (JSON.parse(text) as { code: string; requestId: string })
        seen.push([key.name, place.name, refusal?.code ?? response.status])
        should.push([key.name, place.name, expected(key, isListed(line, place) ? 'agent' : kind, place, STATUS[line]!)])
        if (refusal) {
          const { requestId: _requestId, ...body } = refusal
          const told = JSON.stringify([response.status, body])
          bodies.set(refusal.code, (bodies.get(refusal.code) ?? new Set()).add(told))
        }
      }
    expect(seen).toEqual(should)
    // Of one code nobody can tell apart why it was given: one status and one body, whoever asked for what.
    for (const [code, told] of bodies) expect([code, told.size]).toEqual([code, 1])
  })

  test('what no key can be is not looked up', async () => {
    const secrets = malformed(keys[0]!.secret!)
    expect(secrets.filter(isWellFormedKey)).toEqual([])
    lookups = 0
    fixture.clock.wind(1000)
    for (const secret of secrets) await fixture.api(`/v1/runs/${UNKNOWN}`, { key: secret })
    expect(lookups).toBe(0)
    await fixture.api(`/v1/runs/${UNKNOWN}`, { key: createApiKeySecret() })
    expect(lookups).toBe(1)
  })

  test('an address that tries too many keys is refused for a while; good keys go on, also one not seen before', async () => {
    const own = openFixture()
    await own.deploy('acme.desk')
    const { secret } = await own.keyFor('acme.desk')
    const codeOf = async (key: string) => {
      const response = await own.api(`/v1/runs/${UNKNOWN}`, { key })
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    for (let n = 0; n < 1000; n++) expect(await codeOf(createApiKeySecret())).toEqual([401, 'invalid_api_key'])
    const refused = await own.api(`/v1/runs/${UNKNOWN}`, { key: createApiKeySecret() })
    expect([
      refused.status,
      ...['retry-after', 'ratelimit', 'ratelimit-policy'].map((name) => refused.headers.get(name)),
    ]).toEqual([429, '1', '"attempts";r=0;t=1', '"attempts";q=1000;w=100'])
    expect(await codeOf(secret)).toEqual([404, 'not_found'])
    expect(await codeOf('svc_nonsense')).toEqual([401, 'invalid_api_key'])
    own.clock.wind(100)
    expect(await codeOf(createApiKeySecret())).toEqual([401, 'invalid_api_key'])
    expect(await codeOf(createApiKeySecret())).toEqual([429, 'rate_limited'])
  })

  function bodyOf(path: string, { id }: Place): object {
    if (path.endsWith('/presign')) return { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 9 }
    if (path.endsWith('/finalize')) return { objectKey: id, maxContentLength: 9 }
    if (path.includes('/signals/')) return { data: 1 }
    return /input|messages/.test(path) ? { runId: id, text: 'Hello.' } : {}
  }
}
