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
import { connect, createConnection, toSegment, type ClientConnection } from './connection.ts'
import type { ClientFetch, RequestInfo, RequestOptions, ResponseInfo } from './transport.ts'
import { uploadFile, type UploadedFile, type UploadOptions, type UploadSource } from './upload.ts'

/** Default address of `svc dev` and `svc serve`. */
const LOCAL = 'http://127.0.0.1:4310'

/** Sent as `x-svc-client`. */
const CLIENT = 'ts/0.1.0'

const MAX_RETRIES = 2
const TIMEOUT_MS = 60_000

/** Who asks: a key, or whoever `fetch` says. */
export type SvcClientOptions = SvcClientSettings & (KeyIdentity | FetchIdentity)

interface KeyIdentity {
  /** `svc_…`; for backends only. */
  readonly apiKey: string
  /** Used for everything, uploads included. */
  readonly fetch?: ClientFetch
}

interface FetchIdentity {
  /** No `X-API-Key` is sent. */
  readonly apiKey: null
  /** Identifies the caller itself, such as by a session of your backend; used for everything, uploads included. */
  readonly fetch: ClientFetch
}

interface SvcClientSettings {
  /** Without `/v1`. */
  readonly baseUrl?: string
  /** 2 when absent. */
  readonly maxRetries?: number
  /** Bound of a call with its repetitions; one minute when absent. Streams end only by silence, uploads with their address. */
  readonly timeoutMs?: number
  /** A longer `Retry-After` is not waited for: the failure is thrown at once. `timeoutMs` bounds it when absent. */
  readonly maxRetryAfterMs?: number
  readonly onRequest?: (request: RequestInfo) => void
  readonly onResponse?: (response: ResponseInfo) => void
  /** Allows the client in a browser, where everyone who opens the page can read the key. */
  readonly dangerouslyAllowBrowser?: boolean
}

export interface WaitingOptions extends RequestOptions {
  /** Asks the server to answer only when the run pauses or ends, at the latest after this many seconds (60 at most). */
  readonly waitSeconds?: number
}

export interface StartOptions extends WaitingOptions {
  /** The same key within 24 hours starts nothing twice; a broken connection is then tried again. */
  readonly idempotencyKey?: string
}

export interface SessionsQuery {
  readonly skip?: number
  /** 1 to 500; 50 when absent. */
  readonly take?: number
  readonly versionId?: string
  /** The label of a version, in place of `versionId`. */
  readonly version?: string
  /** One status or several, separated by commas. */
  readonly status?: string
  readonly tag?: string
  /** Sessions that started at this time or later. */
  readonly from?: string
  /** Sessions that started before this time. */
  readonly to?: string
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** `ref`: values of more than 4 KiB come as references. */
  readonly values?: 'ref'
}

export interface ConversationQuery {
  readonly stepContent?: 'slim' | 'full'
  /** Items at most. */
  readonly take?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** `ref`: values of more than 4 KiB come as references. */
  readonly values?: 'ref'
}

/** Body of an answer; `runId` is set from the argument. Source: docs/design/http.md#client */
export interface RunMessage {
  readonly userTaskId?: string
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  readonly text?: string
  readonly message?: string
  /** For a run that works: its next completion takes the text up; `interrupt` drops the one under way. */
  readonly steer?: true | 'interrupt'
  readonly files?: readonly FileItem[]
  readonly [field: string]: unknown
}

export interface MessageOptions extends StartOptions {
  /** `messages` when absent; both do the same. */
  readonly path?: 'input' | 'messages'
}

/**
 * The HTTP API, one method per route. Functions such as `waitForRun` combine several routes.
 * Every method throws SvcError for a failing status, SvcConnectionError and SvcTimeoutError.
 *
 * Source: docs/design/http.md#client
 */
export class SvcClient {
  readonly #connection: ClientConnection

  constructor(options: SvcClientOptions) {
    const { apiKey } = options
    if (!apiKey && !(apiKey === null && options.fetch)) throw new TypeError('SvcClient needs an apiKey.')
    if (apiKey && 'window' in globalThis && 'document' in globalThis && options.dangerouslyAllowBrowser !== true)
      throw new TypeError(
        'SvcClient is for backends: in a browser its key would be readable by whoever opens the page.',
      )
    const baseUrl = (options.baseUrl ?? LOCAL).replace(/\/+$/, '')
    if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError(`baseUrl must begin with http:// or https://: ${baseUrl}`)
    const headers = { ...(apiKey && { 'X-API-Key': apiKey }), 'x-svc-client': CLIENT }
    this.#connection = createConnection(baseUrl, headers, {
      // Looked up at each call: a fetch that is replaced later is the one that counts.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxRetryAfterMs: options.maxRetryAfterMs ?? Infinity,
      onRequest: options.onRequest,
      onResponse: options.onResponse,
    })
    connect(this, this.#connection)
  }

  /** POST /v1/agents/{agentId}/runs */
  startRun(agentId: string, body: StartRunBody = {}, options: StartOptions = {}): Promise<StartRunResponse> {
    const path = `/v1/agents/${toSegment(agentId)}/runs`
    return this.#connection.call('POST', path, options, { body, headers: writingHeaders(options) })
  }

  /** GET /v1/agents/{agentId}/sessions */
  listSessions(agentId: string, query: SessionsQuery = {}, options: RequestOptions = {}): Promise<SessionList> {
    return this.#connection.call('GET', `/v1/agents/${toSegment(agentId)}/sessions`, options, { query: { ...query } })
  }

  /** GET /v1/runs/{runId} */
  getRun(runId: string, options: WaitingOptions = {}): Promise<RunStatus> {
    return this.#connection.call('GET', `/v1/runs/${toSegment(runId)}`, options, { headers: waitingHeaders(options) })
  }

  /** GET /v1/runs/{runId}/conversation */
  getConversation(
    runId: string,
    query: ConversationQuery = {},
    options: RequestOptions = {},
  ): Promise<ConversationResponse> {
    const path = `/v1/runs/${toSegment(runId)}/conversation`
    return this.#connection.call('GET', path, options, { query: { ...query } })
  }

  /**
   * POST /v1/runs/{runId}/messages or /input. A refused answer has `error` and `code` in the result, not as an
   * exception.
   */
  sendRunMessage(runId: string, body: RunMessage, options: MessageOptions = {}): Promise<MessageAccepted> {
    const path = `/v1/runs/${toSegment(runId)}/${options.path ?? 'messages'}`
    return this.#connection.call('POST', path, options, { body: { ...body, runId }, headers: writingHeaders(options) })
  }

  /** GET /v1/runs/{runId}/stream, resumed where it breaks: each event once and in order, to the end of the run. */
  streamRunEvents(runId: string, options: StreamOptions = {}): AsyncIterable<StreamEvent> {
    const headers = { Accept: 'text/event-stream' }
    const request = this.#connection.request('GET', `/v1/runs/${toSegment(runId)}/stream`, { headers })
    return followEvents(this.#connection.transport, request, runId, options)
  }

  /** POST /v1/file-library/presign */
  presignFile(body: PresignBody, options: RequestOptions = {}): Promise<Presigned> {
    return this.#connection.call('POST', '/v1/file-library/presign', options, { body })
  }

  /** POST /v1/file-library/finalize */
  finalizeFile(body: FinalizeBody, options: RequestOptions = {}): Promise<Finalized> {
    return this.#connection.call('POST', '/v1/file-library/finalize', options, { body })
  }

  /**
   * Presign, PUT and finalize. A file on a disk is given as a blob (`openAsBlob` of `node:fs`); a stream needs `options.size`.
   * `filename` of the result is the leaf of `objectKey`, as a file reference in a run's input needs it.
   */
  uploadWorkspaceFile(file: UploadSource, options: UploadOptions = {}): Promise<UploadedFile> {
    return uploadFile(this, this.#connection.transport, file, options)
  }
}

const waitingHeaders = ({ waitSeconds }: WaitingOptions) => ({
  Prefer: waitSeconds === undefined ? undefined : `wait=${waitSeconds}`,
})

const writingHeaders = (options: StartOptions) => ({
  ...waitingHeaders(options),
  'Idempotency-Key': options.idempotencyKey,
})
