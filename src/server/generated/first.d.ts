import type { ErrorObject } from 'ajv'
interface Check {
  (value: unknown): boolean
  errors?: readonly ErrorObject[] | null
}
export declare const checks: Readonly<
  Record<
    | 'startBody'
    | 'messageBody'
    | 'presignBody'
    | 'finalizeBody'
    | 'cancelBody'
    | 'sessionPatch'
    | 'sessionsQuery'
    | 'conversationQuery'
    | 'tasksQuery'
    | 'valueQuery'
    | 'idempotencyKey'
    | 'POST /publish body'
    | 'POST /deploy body'
    | 'GET /agents query'
    | 'GET /versions query'
    | 'GET /snapshot query'
    | 'GET /matrix query'
    | 'GET /difference query'
    | 'GET /documents query'
    | 'POST /yank body'
    | 'POST /triggers body'
    | 'PATCH /triggers/:id body'
    | 'GET /triggers query'
    | 'POST /keys body'
    | 'POST /operator-keys body'
    | 'GET /keys query'
    | 'POST /runs body'
    | 'GET /runs query'
    | 'GET /runs/:id/outline query'
    | 'GET /runs/:id/step query'
    | 'POST /runs/:id/cancel body'
    | 'POST /runs/:id/messages body'
    | 'GET /v1/runs/:id/conversation query'
    | 'GET /sessions query'
    | 'PATCH /sessions/:id body'
    | 'GET /files query'
    | 'GET /files/content query'
    | 'GET /tasks query'
    | 'GET /decisions query'
    | 'GET /costs query'
    | 'POST /policies/revoke body'
    | 'GET /effects query'
    | 'POST /effects/release body'
    | 'GET /pauses query'
    | 'POST /pauses body'
    | 'GET /logs query'
    | 'GET /restored query'
    | 'POST /restored/release body',
    Check
  >
>
export declare const queryTypes: Readonly<Record<string, Readonly<Record<string, 'integer' | 'boolean'>>>>
