/** What a route answers, before it is an HTTP response. */
export interface Reply {
  readonly status: number
  readonly json?: unknown
  readonly stream?: ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

export const ok = (json: unknown): Reply => ({ status: 200, json })
export const accepted = (json: unknown): Reply => ({ status: 202, json })
