/** The server itself: its processes, log, backup, secrets, and the browsers that are signed in. */
import type { OperationTable } from './operation.ts'
import {
  boolean,
  bounded,
  described,
  integer,
  integerFrom,
  list,
  listAnswer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'
import { reference } from './shared.ts'

/** A browser that is signed in to the console, or was. */
const consoleSession = object({
  sessionId: string,
  operator: string,
  keyId: described(
    nullable(string),
    'The credential that signed in; null for the local identity of the operator channel, and for an identity provider.',
  ),
  purpose: described(oneOf('console', 'command'), '`command`: of `svc login`.'),
  issuer: described(nullable(string), 'The identity provider that named the operator.'),
  groups: described(list(string), 'What it said of them, as far as the configuration names it.'),
  browser: string,
  createdAt: string,
  lastUsedAt: string,
  expiresAt: described(nullable(string), 'However much it is used.'),
  endedAt: nullable(string),
  isThis: described(boolean, 'The session of the request itself.'),
})
export type ConsoleSessionView = ValueOf<typeof consoleSession>

/** A secret that a deployed agent names, and whether this server has it. Never the value. */
const secretView = object({
  agent: described(string, 'Empty where the server itself uses the variable, such as for a tool.'),
  name: string,
  env: described(string, 'The environment variable.'),
  state: oneOf('set', 'empty', 'missing'),
  usedBy: described(list(string), '`model anthropic`, `mcp orders`; empty where nothing uses it.'),
})
export type SecretView = ValueOf<typeof secretView>

const workerView = object({
  workerId: string,
  version: string,
  url: described(nullable(string), 'Where clients reach it.'),
  state: described(oneOf('serving', 'draining', 'silent'), '`silent`: it has not been seen for 15 seconds.'),
  startedAt: string,
  seenAt: string,
  leases: described(integer, 'Sessions that it drives.'),
})
/** A server process of the store. */
export type WorkerView = ValueOf<typeof workerView>

const storageView = object({
  store: oneOf('sqlite', 'postgres'),
  storeBytes: described(
    nullable(integer),
    'Of the database in the data directory, with its log; null where there is none.',
  ),
  files: oneOf('directory', 'bucket'),
  freeBytes: described(nullable(integer), 'Of the disk of the data directory.'),
})
/** Where a server keeps what it knows, and how full that is. */
export type StorageView = ValueOf<typeof storageView>

const repeatView = object({
  runId: described(string, 'The run of the tree.'),
  agent: string,
  what: oneOf('completion', 'call'),
  tool: described(optional(string), 'Logical id of a call, with its class and idempotency key.'),
  sideEffectClass: optional(nullable(string)),
  idempotencyKey: optional(string),
  onRelease: described(oneOf('made', 'asked'), '`made` automatically, or only after asking a person.'),
})
/** An action that an open run from a backup takes once released, and may have taken before. */
export type RepeatView = ValueOf<typeof repeatView>

const restoredView = object({
  restore: described(
    nullable(object({ at: string, backedUpAt: string, releasedAt: nullable(string), asksUntil: nullable(string) })),
    'The restore that made the store; null where none did.',
  ),
  runs: described(
    list(
      object({
        runId: string,
        agent: string,
        status: string,
        startedAt: string,
        heldSince: string,
        mayRepeat: list(repeatView),
      }),
    ),
    'Open root runs that are held, oldest first.',
  ),
  triggers: list(
    object({
      triggerId: string,
      agent: string,
      type: oneOf('api', 'schedule'),
      name: string,
      nextAt: described(nullable(string), 'The next time of a schedule.'),
    }),
  ),
})
export type RestoredView = ValueOf<typeof restoredView>

/** Of the stream of hints: these sessions changed since the last one, and whether anything outside of sessions did. */
export interface LiveHint {
  readonly sessions: readonly string[] | 'any'
  readonly workspace: boolean
}

export const serverOperations = {
  'GET /status': {
    answer: object({
      version: string,
      pid: integer,
      url: nullable(string),
      uploadUrl: nullable(string),
      consoleUrl: nullable(string),
      workspace: string,
      operator: described(string, "Identity of the request: the credential's email, else the local identity."),
      roles: list(string),
      signIn: described(
        nullable(
          object({
            provider: string,
            may: string,
            groups: list(string),
            earlierGroups: described(nullable(list(string)), 'Those of the sign-in before, where they were others.'),
            endsAt: nullable(string),
          }),
        ),
        'What an identity provider said of the operator at the sign-in; null without one.',
      ),
      isDevelopment: described(boolean, '`svc dev`: runs may be rehearsed with another model.'),
      storage: storageView,
      startedAt: string,
      clockAheadMs: described(number, 'How far its clock is ahead of that of its store; negative where it is behind.'),
    }),
  },
  'GET /workers': {
    about: 'The server processes of the store, oldest start first.',
    answer: listAnswer(workerView),
  },
  'POST /workers/:id/drain': {
    about: 'The process hands over what it holds, and ends. `:id` is an id or its unique ending.',
    answer: workerView,
  },
  'GET /secrets': {
    about: 'Secrets of deployed agents, as this server finds them.',
    answer: listAnswer(secretView),
  },
  'GET /logs': {
    about: 'The log, a line of JSON each, oldest first; `http`: the requests instead of everything else.',
    query: {
      run: optional(string),
      agent: optional(string),
      level: optional(oneOf('debug', 'info', 'warn', 'error')),
      since: optional(string),
      grep: optional(string),
      http: optional(boolean),
      status: optional(string),
      path: optional(string),
      follow: optional(boolean),
    },
    answer: 'stream',
  },
  'POST /backup': {
    about: 'A `.tar.gz` of database and files; `x-svc-runs` and `x-svc-objects` tell how many.',
    answer: 'stream',
  },
  'GET /restored': {
    about: 'The runs and triggers that a restore holds, and the calls that a release may repeat.',
    query: { run: optional(string), agent: optional(string), trigger: optional(string) },
    answer: restoredView,
  },
  'POST /restored/release': {
    about: 'Releases everything, or a run (by any run of its tree), an agent with its triggers, or a trigger.',
    body: object({
      run: optional(reference),
      agent: optional(reference),
      trigger: optional(reference),
      asksForSeconds: optional(integerFrom(0, 31_622_400)),
      happened: described(
        optional(bounded(list(textUpTo(65_536)), { maxItems: 10_000 })),
        'Effect keys of calls that are known to have happened after the backup.',
      ),
    }),
    answer: object({
      runs: integer,
      triggers: integer,
      asksUntil: described(
        nullable(string),
        'Until then calls ask that may have been made after the backup; null while the store is held.',
      ),
      known: described(integer, 'Effect keys that were taken for `happened`.'),
    }),
  },
  'POST /console/codes': {
    about: 'An address that signs one browser in as the caller, valid for a minute.',
    answer: object({ url: string, expiresAt: string }),
  },
  'GET /console/sessions': { about: 'Newest first.', answer: listAnswer(consoleSession) },
  'POST /console/sessions/:id/end': { answer: consoleSession },
  'POST /console/sign-out': {
    about: 'Ends all sessions of a person, in browsers and of `svc login`; their credentials stay.',
    body: object({ operator: described(textUpTo(300), 'As the list of sessions names them.') }),
    answer: object({ operator: string }),
  },
  'GET /live': { about: 'Server-sent `LiveHint`s.', answer: 'stream' },
  'GET /reference': { about: 'The HTTP API as a page.', answer: 'stream' },
} satisfies OperationTable
