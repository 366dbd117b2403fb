import { followEvents, type StreamOptions } from './stream.ts'
import type {
  FileItem,
  Finalized,
  FinalizeBody,
  JsonObject,
  MessageAccepted,
  PresignBody,
  Presigned,
  RunStatus,
  SessionList,
  StartRunBody,
  StartRunResponse,
  StreamEvent,
} from './generated/api.ts'
import type { ConversationResponse } from './shapes.ts'
import {
  sendRequest,
  type ClientFetch,
  type RequestInfo,
  type RequestOptions,
  type ResponseInfo,
  type ClientTransport,
} from './transport.ts'
import { uploadFile, type UploadedFile, type UploadOptions, type UploadSource } from './upload.ts'

/** Default address of `svc dev` and `svc serve`. */
const LOCAL = 'http://127.0.0.1:4310'

/** Sent as `x-svc-client`. */
const CLIENT = 'ts/0.1.0'

const MAX_RETRIES = 2
const TIMEOUT_MS = 60_000

export interface SvcClientOptions {
  /** `svc_…`; for backends only. */
  readonly apiKey: string
  /** Without `/v1`. */
  readonly baseUrl?: string
  /** Used for everything, uploads included. */
  readonly fetch?: ClientFetch
  /** 2 when absent. */
  readonly maxRetries?: number
  /** Bound of a call with its repetitions; one minute when absent. Streams end only by silence, uploads with their address. */
  readonly timeoutMs?: number
  readonly onRequest?: (request: RequestInfo) => void
  readonly onResponse?: (response: ResponseInfo) => void
  /** Allows the client in a browser, where everyone who opens the page can read the key. */
  readonly dangerouslyAllowBrowser?: boolean
}

export interface StartOptions extends RequestOptions {
  /** The same key within 24 hours starts nothing twice; a broken connection is then tried again. */
  readonly idempotencyKey?: string
}

export interface GetRunOptions extends RequestOptions {
  /** Asks the server to answer only when the run pauses or ends, at the latest after this many seconds. */
  readonly waitSeconds?: number
}

export interface SessionsQuery {
  readonly skip?: number
  /** 1 to 500; 50 when absent. */
  readonly take?: number
  readonly versionId?: string
}

/** Body of an answer; `runId` is set from the argument. Source: HTTP API, "POST /v1/runs/{runId}/input and …/messages". */
export interface RunMessage {
  readonly userTaskId?: string
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  readonly text?: string
  readonly message?: string
  readonly files?: readonly FileItem[]
  readonly [field: string]: unknown
}

export interface MessageOptions extends RequestOptions {
  /** `messages` when absent; both do the same. */
  readonly path?: 'input' | 'messages'
}

/**
 * The HTTP API, one method per route. Functions such as `waitForRun` combine several routes.
 * Every method throws SvcError for a failing status, SvcConnectionError and SvcTimeoutError.
 *
 * Source: HTTP API, "TypeScript client library mapping".
 */
export class SvcClient {
  readonly #transport: ClientTransport
  readonly #baseUrl: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: SvcClientOptions) {
    if (!options.apiKey) throw new TypeError('SvcClient needs an apiKey.')
    if ('window' in globalThis && 'document' in globalThis && options.dangerouslyAllowBrowser !== true)
      throw new TypeError(
        'SvcClient is for backends: in a browser its key would be readable by whoever opens the page.',
      )
    const baseUrl = (options.baseUrl ?? LOCAL).replace(/\/+$/, '')
    if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError(`baseUrl must begin with http:// or https://: ${baseUrl}`)
    this.#baseUrl = baseUrl
    this.#headers = { 'X-API-Key': options.apiKey, 'x-svc-client': CLIENT }
    this.#transport = {
      // Looked up at each call: a fetch that is replaced later is the one that counts.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      onRequest: options.onRequest,
      onResponse: options.onResponse,
    }
  }

  /** POST /v1/agents/{agentId}/runs */
  startRun(agentId: string, body: StartRunBody = {}, options: StartOptions = {}): Promise<StartRunResponse> {
    const { idempotencyKey } = options
    return this.#post(
      `/v1/agents/${segment(agentId)}/runs`,
      body,
      options,
      idempotencyKey === undefined ? undefined : { 'Idempotency-Key': idempotencyKey },
    )
  }

  /** GET /v1/agents/{agentId}/sessions */
  listSessions(agentId: string, query: SessionsQuery = {}, options: RequestOptions = {}): Promise<SessionList> {
    return this.#get(`/v1/agents/${segment(agentId)}/sessions`, { ...query }, options)
  }

  /** GET /v1/runs/{runId} */
  getRun(runId: string, options: GetRunOptions = {}): Promise<RunStatus> {
    const { waitSeconds } = options
    const prefer = waitSeconds === undefined ? undefined : { Prefer: `wait=${waitSeconds}` }
    return this.#get(`/v1/runs/${segment(runId)}`, {}, options, prefer)
  }

  /** GET /v1/runs/{runId}/conversation */
  getConversation(
    runId: string,
    query: { readonly stepContent?: 'slim' | 'full' } = {},
    options: RequestOptions = {},
  ): Promise<ConversationResponse> {
    return this.#get(`/v1/runs/${segment(runId)}/conversation`, { ...query }, options)
  }

  /**
   * POST /v1/runs/{runId}/messages or /input. A refused answer has `error` and `code` in the result, not as an
   * exception.
   */
  sendRunMessage(runId: string, body: RunMessage, options: MessageOptions = {}): Promise<MessageAccepted> {
    return this.#post(`/v1/runs/${segment(runId)}/${options.path ?? 'messages'}`, { ...body, runId }, options)
  }

  /** GET /v1/runs/{runId}/stream, resumed where it breaks: each event once and in order, to the end of the run. */
  streamRunEvents(runId: string, options: StreamOptions = {}): AsyncIterable<StreamEvent> {
    const url = this.#url(`/v1/runs/${segment(runId)}/stream`, {})
    const headers = { ...this.#headers, Accept: 'text/event-stream' }
    return followEvents(this.#transport, { method: 'GET', url, headers }, runId, options)
  }

  /** POST /v1/file-library/presign */
  presignFile(body: PresignBody, options: RequestOptions = {}): Promise<Presigned> {
    return this.#post('/v1/file-library/presign', body, options)
  }

  /** POST /v1/file-library/finalize */
  finalizeFile(body: FinalizeBody, options: RequestOptions = {}): Promise<Finalized> {
    return this.#post('/v1/file-library/finalize', body, options)
  }

  /**
   * Presign, PUT and finalize. A file on a disk is given as a blob (`openAsBlob` of `node:fs`); a stream needs `options.size`.
   * `filename` of the result is the leaf of `objectKey`, as a file reference in a run's input needs it.
   */
  uploadWorkspaceFile(file: UploadSource, options: UploadOptions = {}): Promise<UploadedFile> {
    return uploadFile(this, this.#transport, file, options)
  }

  #url(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
    const text = parameters.toString()
    return `${this.#baseUrl}${path}${text && `?${text}`}`
  }

  async #get<T>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    options: RequestOptions,
    more?: Readonly<Record<string, string>>,
  ): Promise<T> {
    const request = { method: 'GET', url: this.#url(path, query), headers: { ...this.#headers, ...more } } as const
    return JSON.parse(await sendRequest(this.#transport, request, options)) as T
  }

  async #post<T>(
    path: string,
    body: unknown,
    options: RequestOptions,
    idempotency?: Readonly<Record<string, string>>,
  ): Promise<T> {
    const request = {
      method: 'POST',
      url: this.#url(path, {}),
      headers: { ...this.#headers, 'Content-Type': 'application/json', ...idempotency },
      body: JSON.stringify(body),
      repeatable: idempotency !== undefined,
    } as const
    return JSON.parse(await sendRequest(this.#transport, request, options)) as T
  }
}

const segment = (id: string): string => {
  // `.` and `..` would be taken out of the path again, and another route called.
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" is not an id.`)
  return encodeURIComponent(id)
}
