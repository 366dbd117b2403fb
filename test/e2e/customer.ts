import type { Conversation, RunStatusBody, SessionList, StartRunResponse, TaskContent } from '../../src/spec/api.ts'
import type { Access, ServerProcess } from './program.ts'

export const ENDED: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Cancelled'])

/** The interface of one server, as an approver uses it. */
export function customer({ url }: Pick<ServerProcess, 'url'>, { agentId, secret }: Access, signal?: AbortSignal) {
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
    /** What people wrote to a run. */
    async messages(runId: string): Promise<string[]> {
      const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
      return items.flatMap(({ type, content }) =>
        type === 'UserMessage' ? [String((content as { text?: unknown }).text)] : [],
      )
    },
    /** Numbers of the stored events of a run that has ended. */
    async eventNumbers(runId: string): Promise<number[]> {
      const response = await fetch(`${url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': secret } })
      return [...(await response.text()).matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]))
    },
  }
}
