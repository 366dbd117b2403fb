/** Requests to the operator routes, of the origin that served the page. */
import { createSignal } from './signal.ts'
import { compareClocks } from './moment.ts'
import type { ErrorBody } from '../../spec/api.ts'
import type { FileView } from '../../operations/sessions.ts'
import { PAGE_KEY_HEADER } from '../../operations/headers.ts'
import type { OperatorAnswer, OperatorRoutes } from '../../operations/operations.ts'
import { addressOf, type RouteArguments } from '../../operations/request.ts'

/** A refusal, with the server's own sentence. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** @returns why the server refused; undefined where `act` came to its end */
export async function findRefusal(act: () => Promise<unknown>): Promise<RequestError | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return error
  }
}

/** Where the page's half of the session is kept. Unlike a cookie, this storage belongs to one port. */
const PAGE_KEY = 'svc-page-key'

/** Keeps the page's half of a new session; undefined forgets it. */
export function keepPageKey(pageKey: string | undefined): void {
  if (pageKey === undefined) localStorage.removeItem(PAGE_KEY)
  else localStorage.setItem(PAGE_KEY, pageKey)
}

/** What the server says before anybody is signed in. */
export interface SignInState {
  readonly signedIn: boolean
  /** Name of the identity provider; null where there is none. */
  readonly provider: string | null
}

/** False once the server has said that nobody is signed in here. */
export const signedIn = createSignal<boolean | undefined>(undefined)

export async function callOperator<R extends keyof OperatorRoutes>(
  route: R,
  given: RouteArguments<R> = {} as RouteArguments<R>,
): Promise<OperatorAnswer<R>> {
  const { method, path } = addressOf(route, given)
  return (await sendOperatorRequest(method, path, given.body)) as OperatorAnswer<R>
}

/** Keeps a file in the workspace. @throws RequestError */
export async function sendFile(file: File): Promise<FileView> {
  const query = new URLSearchParams({
    filename: file.name || 'file',
    mediaType: file.type || 'application/octet-stream',
  })
  const response = await fetchOk('POST', `/files?${query}`, file)
  return (await response.json()) as FileView
}

/** The text of an answer that is no JSON document. @throws RequestError */
export async function sendText(path: string): Promise<string> {
  return await (await fetchOk('GET', path)).text()
}

/** @throws RequestError; its status is 0 where no server answered */
export async function sendOperatorRequest(method: string, path: string, body?: unknown): Promise<unknown> {
  return await (await fetchOk(method, path, body)).json()
}

async function fetchOk(method: string, path: string, body?: unknown): Promise<Response> {
  const isFile = body instanceof Blob
  const pageKey = localStorage.getItem(PAGE_KEY)
  const headers = {
    accept: 'application/json',
    'x-svc-console': '1',
    ...(pageKey !== null && { [PAGE_KEY_HEADER]: pageKey }),
    ...(method !== 'GET' && { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
  }
  const init = { method, headers, ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }) }
  const askedAt = Date.now()
  const response = await fetch(path, init).catch(() => undefined)
  if (!response) throw new RequestError(0, 'no_server', 'The server does not answer.')
  compareClocks(response.headers.get('date'), askedAt)
  if (response.ok) return response
  const answer: unknown = await response.json().catch(() => undefined)
  const { error = response.statusText, code = '' } = (answer ?? {}) as Partial<ErrorBody>
  if (code === 'not_signed_in') signedIn.value = false
  throw new RequestError(response.status, code, error)
}
