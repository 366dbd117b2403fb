/**
 * The operator application: what `publish`, `deploy`, `keys`, `inbox` and the console speak, over the Unix socket `admin.sock` of the server
 * that holds the data directory, else in process under its lock. One entry a route. From it follow the validators of requests
 * (`scripts/openapi.js`), the types of both sides, the `--json` schemas of the commands that print an answer, the reference, and the OpenAPI
 * document (`operator-document.ts`). Bodies and answers are JSON; failures are `ErrorBody`.
 */
import type { Conversation, RunStatusBody, StartRunBody, StartRunResponse } from '../spec/api.ts'
import { actOperations } from './acts.ts'
import { auditOperations } from './audit.ts'
import { decisionOperations } from './decisions.ts'
import { evaluationOperations } from './evals.ts'
import { insightOperations } from './insight.ts'
import { keyOperations } from './keys.ts'
import { noticeOperations } from './notices.ts'
import type { Operation, RouteOf } from './operation.ts'
import { passkeyOperations } from './passkeys.ts'
import { runOperations } from './runs.ts'
import type { TypedSchema } from './schema.ts'
import { serverOperations } from './server.ts'
import { fileOperations, sessionOperations } from './sessions.ts'
import { steeringOperations } from './steering.ts'

import { taskOperations } from './tasks.ts'
import { triggerOperations } from './triggers.ts'
import { trustOperations } from './trust.ts'
import { versionOperations } from './versions.ts'

export const operations = {
  ...versionOperations,
  ...trustOperations,
  ...decisionOperations,
  ...triggerOperations,
  ...keyOperations,
  ...runOperations,
  ...steeringOperations,
  ...sessionOperations,
  ...fileOperations,
  ...taskOperations,
  ...insightOperations,
  ...evaluationOperations,
  ...noticeOperations,
  ...passkeyOperations,
  ...serverOperations,
  ...actOperations,
  ...auditOperations,
}

type Operations = typeof operations
export type OwnOperatorRoute = keyof Operations

/** `METHOD path` -> request and answer. All routes of `/v1` answer too, with an operator as principal and never redacted. */
export type OperatorRoutes = { readonly [R in OwnOperatorRoute]: RouteOf<Operations[R]> } & ApiRoutesByName

/** Routes of `/v1` that are called by name. */
interface ApiRoutesByName {
  'POST /v1/agents/:id/runs': { readonly body: StartRunBody; readonly answer: StartRunResponse }
  'GET /v1/runs/:id': { readonly answer: RunStatusBody }
  'GET /v1/runs/:id/conversation': {
    readonly query: { readonly [K in 'cursor' | 'take' | 'stepContent' | 'values']?: string }
    readonly answer: Conversation
  }
}

export type OperatorAnswer<R extends keyof OperatorRoutes> = OperatorRoutes[R]['answer']

/** The schema of an answer that is a JSON document. */
export const answerSchema = <R extends OwnOperatorRoute>(route: R): TypedSchema<OperatorAnswer<R>> =>
  // The type of each answer is inferred from this very schema.
  operations[route].answer as TypedSchema<OperatorAnswer<R>>

/** Entry of a route; undefined for those of `/v1`. */
export const findOperation = (route: string): Operation | undefined =>
  Object.hasOwn(operations, route) ? operations[route as OwnOperatorRoute] : undefined
