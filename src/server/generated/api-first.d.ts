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
    | 'signalBody'
    | 'completionBody'
    | 'sessionPatch'
    | 'sessionsQuery'
    | 'conversationQuery'
    | 'sessionQuery'
    | 'tasksQuery'
    | 'valueQuery'
    | 'idempotencyKey',
    Check
  >
>
