import { sendRequest, type ClientRequest, type ClientTransport, type RequestOptions } from './transport.ts'

export type QueryValues = Readonly<Record<string, string | number | undefined>>
type HeaderValues = Readonly<Record<string, string | undefined>>

/** An address with a key and a transport: what the methods of a client and the functions beside it send their requests by. */
export interface ClientConnection {
  readonly transport: ClientTransport
  request(method: ClientRequest['method'], path: string, more?: RequestParts): ClientRequest
  call<T>(method: ClientRequest['method'], path: string, options: RequestOptions, more?: RequestParts): Promise<T>
}

interface RequestParts {
  readonly query?: QueryValues
  readonly headers?: HeaderValues
  /** Sent as JSON. */
  readonly body?: unknown
}

export function createConnection(
  baseUrl: string,
  ownHeaders: Readonly<Record<string, string>>,
  transport: ClientTransport,
): ClientConnection {
  const request: ClientConnection['request'] = (method, path, { query = {}, headers = {}, body } = {}) => {
    const text = new URLSearchParams(givenOf(query)).toString()
    return {
      method,
      url: `${baseUrl}${path}${text && `?${text}`}`,
      headers: {
        ...ownHeaders,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...givenOf(headers),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      repeatable: headers['Idempotency-Key'] !== undefined,
    }
  }
  return {
    transport,
    request,
    async call<T>(
      method: ClientRequest['method'],
      path: string,
      options: RequestOptions,
      more?: RequestParts,
    ): Promise<T> {
      const text = await sendRequest(transport, request(method, path, more), options)
      return (text === '' ? undefined : JSON.parse(text)) as T
    },
  }
}

/** The values that are there, as texts. */
const givenOf = (values: QueryValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
  )

const connections = new WeakMap<object, ClientConnection>()

export function connect(client: object, connection: ClientConnection): void {
  connections.set(client, connection)
}

/** The connection of a client, for the functions beside it: the class has the methods of the API document and no other. */
export function connectionOf(client: object): ClientConnection {
  const connection = connections.get(client)
  if (!connection) throw new TypeError('The client is not an SvcClient of this module; it may come from a second copy.')
  return connection
}

/** An id as a segment of a path. */
export function toSegment(id: string): string {
  // `.` and `..` would be taken out of the path again, and another route called.
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" is not an id.`)
  return encodeURIComponent(id)
}
