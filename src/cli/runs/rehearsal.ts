/** `--model`, `--record` and `--replay`. Source: docs/design/models-and-tools.md#record-and-replay */
import { resolve } from 'node:path'
import type { RehearsalOptions } from '../../operations/runs.ts'
import type { CommandContext } from '../shell/command.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/**
 * Options for the server of `svc dev`; undefined where none of the flags is given.
 * @throws Failure `usage`
 */
export function readRehearsal(call: Pick<CommandContext, 'given' | 'cwd'>): RehearsalOptions | undefined {
  const { given, cwd } = call
  const model = given.text('model')
  const { record, replay } = readTapes(call)
  if (model === undefined && record === undefined && replay === undefined) return undefined
  if (given.text('idempotency-key') !== undefined)
    throw usageFailure('--idempotency-key does not go with --model, --record and --replay.')
  return {
    ...(model !== undefined && { model }),
    ...(record !== undefined && { record: resolve(cwd, record) }),
    ...(replay !== undefined && { replay: resolve(cwd, replay) }),
  }
}

/** @throws Failure `usage` where both are given */
export function readTapes({ given }: Pick<CommandContext, 'given'>): {
  readonly record?: string
  readonly replay?: string
} {
  const [record, replay] = [given.text('record'), given.text('replay')]
  if (record !== undefined && replay !== undefined)
    throw usageFailure('A replay cannot be recorded: give --record or --replay.')
  return { ...(record !== undefined && { record }), ...(replay !== undefined && { replay }) }
}
