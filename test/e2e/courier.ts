/**
 * The project `courier`: an agent that does one thing of every side-effect class, alone and through a sub-agent, and stops for
 * an approval and for a reply; and the world outside, which keeps the only book of what really happened.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Conversation, RunStatusBody, SessionList, StartRunResponse, TaskContent } from '../../src/spec/api.ts'
import { deploy, serve, svcJson, svc, writeProject, type Access, type Project, type ServerProcess } from './binary.ts'

/** A call as it arrived. */
export interface Arrival {
  readonly tool: string
  readonly key: string
  readonly runId: string
}

export interface Courier {
  readonly project: Project
  readonly access: Access
  /** Every call that arrived, in order. */
  readonly arrivals: readonly Arrival[]
  /** @param more options of `svc serve`; of several servers each needs `--data` */
  serve(failpoint?: string, ...more: readonly string[]): Promise<ServerProcess>
  /** Every operator's task that waits, decided by the book. */
  review: () => Promise<void>
  close(): Promise<void>
}

export interface CourierOptions {
  /** The class that `post` is said to have. */
  readonly classOfPost?: string
  /** Milliseconds that a call takes. */
  readonly callMs?: () => number
  /**
   * Time-out of a call. A call that a busy machine did not send in time is definitely not made, and the run goes on without
   * it: a test that counts calls gives them time.
   */
  readonly timeout?: string
  /** Of every command and server. */
  readonly env?: Readonly<Record<string, string>>
}

export async function openCourier({
  classOfPost = 'non_idempotent_write',
  callMs = () => 0,
  timeout = '1s',
  env = {},
}: CourierOptions = {}): Promise<Courier> {
  const arrivals: Arrival[] = []
  const world = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const call = JSON.parse(text) as {
        tool: string
        idempotency_key: string
        arguments: { idempotency_key?: string }
        run: { id: string }
      }
      if (call.tool === 'acme.find') {
        const key = call.arguments.idempotency_key
        response.end(JSON.stringify(arrivals.some((each) => each.key === key) ? { done: key } : {}))
        return
      }
      arrivals.push({ tool: call.tool, key: call.idempotency_key, runId: call.run.id })
      setTimeout(() => response.end(JSON.stringify({ done: call.idempotency_key })), callMs())
    })
  })
  await new Promise<void>((ready) => world.listen(0, '127.0.0.1', ready))
  const project = writeProject(
    filesOf(classOfPost, `http://127.0.0.1:${(world.address() as AddressInfo).port}`, timeout),
  )
  const at = { cwd: project.directory, env }
  const access = await deploy(project, 'acme.courier', { uploads: true, env })
  return {
    project,
    access,
    arrivals,
    serve: (failpoint, ...more) =>
      serve(['--data', project.data, ...more], { ...at, ...(failpoint !== undefined && { failpoint }) }),
    async review() {
      const { items } = await svcJson<{ items: { userTaskId: string; tool: string; runId: string }[] }>(
        ['inbox', '--operator', '--data', project.data],
        at,
      )
      for (const { userTaskId, ...task } of items) {
        // No run calls the same tool twice.
        const happened = arrivals.find((each) => each.runId === task.runId && each.tool === task.tool)
        const answer = happened ? ['happened', '--text', JSON.stringify({ done: happened.key })] : ['retry']
        const ran = await svc(['answer', userTaskId, '--option', ...answer, '--data', project.data], at)
        // `retry` is refused while bytes of the lost call may still arrive; the next round comes back.
        if (ran.code !== 0 && happened) throw new Error(ran.stderr)
      }
    },
    async close() {
      world.closeAllConnections()
      await new Promise((closed) => world.close(closed))
      project.remove()
    },
  }
}

export const ENDED: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Cancelled'])

const tool = (name: string, sideEffectClass?: string, label = ''): string => `
apiVersion: svc/v1
kind: Tool
metadata: { name: ${name}, namespace: acme, version: 1.0.0, labels: { ${label} } }
spec: { description: Does ${name}., ${sideEffectClass === undefined ? '' : `side_effect_class: ${sideEffectClass}`} }
`

const agent = (name: string, rest: string): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
spec:
  purpose: Delivers.
  instructions: { text: You deliver. }
  model: { provider: scripted, name: ${name}, provider_options: { script: ${name}.script.yaml } }
${rest}`

const filesOf = (classOfPost: string, url: string, timeout: string): Readonly<Record<string, string>> => ({
  'svc.config.yaml': `
workspace: courier
tools:
  acme.*: { http: { url: '${url}' }, timeout: ${timeout} }
`,
  'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: courier, namespace: acme, version: 1.0.0 }
spec: { root: courier.yaml }
`,
  'look.yaml': tool('look', 'read_only'),
  'put.yaml': tool('put', 'idempotent_write'),
  'post.yaml': tool('post', classOfPost),
  'pay.yaml': tool('pay', 'irreversible_action', 'svc/probe: acme.find'),
  'find.yaml': `${tool('find', 'read_only').trimEnd().replace(/ \}$/, '')}
  , input_schema: { inline: { type: object, properties: { idempotency_key: { type: string } } } } }
`,
  'stamp.yaml': tool('stamp'),
  'courier.yaml': agent(
    'courier',
    `  tools:
    - ref: svc.ask_user@^1
    - ref: acme.look@^1
    - ref: acme.put@^1
    - ref: acme.post@^1
    - ref: acme.pay@^1
    - ref: acme.find@^1
  agents:
    - ref: helper.yaml
`,
  ),
  'helper.yaml': agent('helper', '  tools: [{ ref: acme.stamp@^1 }]\n'),
  // A run that a person started does all of it; one that a schedule started stops for nobody.
  'courier.script.yaml': `
- when: { input: { kind: whole } }
  call:
    - { tool: look, arguments: {} }
    - { tool: put, arguments: {} }
    - { tool: post, arguments: {} }
    - { tool: helper, arguments: { message: go } }
- when: { input: { kind: whole } }
  call: { tool: pay, arguments: {} }
- when: { input: { kind: whole } }
  call: { tool: ask_user, arguments: { message: Where to? } }
- when: { input: { kind: whole } }
  say: Delivered to \${results.ask_user}.
- call:
    - { tool: look, arguments: {} }
    - { tool: put, arguments: {} }
    - { tool: post, arguments: {} }
- say: Delivered.
`,
  'helper.script.yaml': `
- call: { tool: stamp, arguments: {} }
- say: Stamped.
`,
})

/** The interface of one server, as an approver uses it. */
export function customer({ url }: ServerProcess, { agentId, secret }: Access, signal?: AbortSignal) {
  const call = async (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(url + path, {
      method,
      headers: { 'X-API-Key': secret, ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    return { status: response.status, body: await response.json() }
  }
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await call('GET', path)
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body as T
  }
  const send = (runId: string, body: object) => call('POST', `/v1/runs/${runId}/messages`, { runId, ...body })
  const run = (runId: string) => get<RunStatusBody>(`/v1/runs/${runId}`)
  return {
    run,
    /** A message to a run. */
    send,
    /** @param key sent as `Idempotency-Key` */
    async start(key?: string, input: object = { kind: 'whole' }): Promise<string> {
      const headers = key === undefined ? {} : { 'Idempotency-Key': key }
      const { status, body } = await call('POST', `/v1/agents/${agentId}/runs`, { input }, headers)
      if (status !== 202) throw new Error(`A start was answered ${status}: ${JSON.stringify(body)}`)
      return (body as StartRunResponse).runId
    },
    /** All of them, a page after the other. */
    async sessions(): Promise<SessionList['items']> {
      const all: SessionList['items'][number][] = []
      for (;;) {
        const page = await get<SessionList>(`/v1/agents/${agentId}/sessions?take=500&skip=${all.length}`)
        all.push(...page.items)
        if (all.length >= page.total) return all
      }
    },
    /** Gives a run what it waits for, as far as a key may. */
    async help(runId: string, approves: (task: TaskContent) => boolean = () => true): Promise<RunStatusBody> {
      const status = await run(runId)
      if (status.status === 'WaitingForResponse') await send(runId, { text: 'Oslo' })
      if (status.status !== 'WaitingForHITL') return status
      const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
      for (const { type, content } of items) {
        const task = content as unknown as TaskContent
        if (type !== 'UserTaskReq' || task.status !== 'pending' || task.kind !== 'approval') continue
        await send(runId, { userTaskId: task.user_task_id, approved: approves(task) })
      }
      return status
    },
    /** Numbers of the stored events of a run that has ended. */
    async eventNumbers(runId: string): Promise<number[]> {
      const response = await fetch(`${url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': secret } })
      return [...(await response.text()).matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]))
    },
  }
}
