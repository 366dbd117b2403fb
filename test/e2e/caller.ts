/** A third party's client: plain fetch and JSON, nothing of the project. Each answer is held against the OpenAPI document. */
import { setTimeout as after } from 'node:timers/promises'
import { descriptionOf } from './described.ts'

/** Bodies are read as any client in a scripting language would read them. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

export interface Caller {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Starts a run, which must be accepted. @returns its id */
  start(agentId: string, input?: object): Promise<string>
  /** Polls by the rule of the document: until the status is terminal or a waiting one. */
  settled(runId: string): Promise<Json>
  items(runId: string): Promise<Json[]>
  /** `content` of the run's pending user task. */
  task(runId: string): Promise<Json>
  /** Sends a message about the run. */
  send(runId: string, body: object, path?: 'messages' | 'input'): Promise<Answer>
}

export function caller(url: string, secret: string): Caller {
  const call = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'X-API-Key': secret,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    ;(await descriptionOf(url)).check(method, path, answer.status, answer.body)
    return answer
  }
  const api: Caller = {
    get: (path, headers = {}) => call('GET', path, undefined, headers),
    post: (path, body, headers = {}) => call('POST', path, body, headers),
    async start(agentId, input) {
      const { status, body } = await api.post(`/v1/agents/${agentId}/runs`, input === undefined ? {} : { input })
      if (status !== 202) throw new Error(`start: ${status} ${JSON.stringify(body)}`)
      return body.runId
    },
    async settled(runId) {
      for (;;) {
        const { status, body } = await api.get(`/v1/runs/${runId}`)
        if (status !== 200) throw new Error(`poll: ${status} ${JSON.stringify(body)}`)
        if (body.status !== 'Running') return body
        await after(15)
      }
    },
    items: async (runId) => (await api.get(`/v1/runs/${runId}/conversation`)).body.items,
    async task(runId) {
      const items = await api.items(runId)
      return items.find(({ type, content }) => type === 'UserTaskReq' && content.status === 'pending')?.content
    },
    send: (runId, body, path = 'messages') => api.post(`/v1/runs/${runId}/${path}`, { runId, ...body }),
  }
  return api
}
