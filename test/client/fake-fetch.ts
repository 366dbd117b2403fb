import { SvcClient, type ClientFetch } from '../../clients/typescript/src/index.ts'

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Answer = Response | Error | ((sent: Sent, init: RequestInit) => Response | Promise<Response>)

/** A fetch that answers in turn and remembers what it was sent; the last answer stays. */
export function fakeFetch(...answers: Answer[]): { fetch: ClientFetch; sent: Sent[] } {
  const sent: Sent[] = []
  return {
    sent,
    async fetch(url, init = {}) {
      const one: Sent = {
        method: init.method ?? 'GET',
        url,
        headers: Object.fromEntries(new Headers(init.headers)),
        body: typeof init.body === 'string' ? JSON.parse(init.body) : init.body,
      }
      sent.push(one)
      const answer = answers[Math.min(sent.length, answers.length) - 1]!
      if (answer instanceof Error) throw answer
      return answer instanceof Response ? answer.clone() : answer(one, init)
    },
  }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** `Retry-After: 0`, so that no test waits. */
export const busy = (status: number): Response =>
  json({ error: 'Busy.', code: 'shutting_down', requestId: 'req-1' }, status, { 'retry-after': '0' })

/** A small world behind fetch: routes by `METHOD path`, each answering in turn, the last answer staying; a function makes one. */
export function world(routes: Record<string, readonly unknown[]>) {
  const asked: string[] = []
  const bodies: unknown[] = []
  /** Of each request. */
  const headers: Headers[] = []
  const turns = new Map<string, number>()
  const client = new SvcClient({
    apiKey: 'svc_test',
    baseUrl: 'http://svc.test',
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url)
      const route = `${init?.method} ${pathname}`
      asked.push(route + search)
      headers.push(new Headers(init?.headers))
      if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body))
      const answers = routes[route] ?? [json({ error: 'No such route.', code: 'not_found' }, 404)]
      const turn = turns.get(route) ?? 0
      turns.set(route, turn + 1)
      const given = answers[Math.min(turn, answers.length - 1)]
      const answer: unknown = typeof given === 'function' ? await (given as () => unknown)() : given
      return answer instanceof Response ? answer.clone() : json(answer)
    },
  })
  return { client, asked, bodies, headers }
}
