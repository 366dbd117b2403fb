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
    | 'sessionsQuery'
    | 'conversationQuery'
    | 'idempotencyKey',
    Check
  >
>
