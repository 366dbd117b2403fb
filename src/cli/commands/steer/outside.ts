/** `svc signal` and `svc complete`: end the wait of a run for something outside svc. Source: docs/design/steering.md#waits-outside */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { completeCall, sendSignal } from '../../../client/index.ts'
import { parseJson, type JsonValue } from '../../../base/json/json.ts'
import type { CompletionAccepted, MessageAccepted } from '../../../spec/api.ts'
import { runIdOf } from '../../project/reference.ts'
import { withTarget } from '../../project/server/target.ts'
import type { CommandContext } from '../../shell/command.ts'
import { exitOfCode } from '../../shell/exit.ts'
import { RefusedAnswer } from '../../../client/remote-error.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function signal(call: CommandContext<MessageAccepted>): Promise<void> {
  const { given, mode, out, globals } = call
  const name = given.required(1)
  // `--data` also names the data directory, so a value that is JSON, or begins like an object, a list or a text, is a
  // payload.
  const flag = isJson(globals.data) || /^\s*[[{"]/.test(globals.data ?? '') ? globals.data : undefined
  // A directory that is not there holds no run that waits.
  if (flag === undefined && globals.data !== undefined && !existsSync(resolve(call.cwd, globals.data)))
    throw usageFailure(`--data is not JSON, and there is no directory ${globals.data}.`)
  if (flag !== undefined && given.argument(2) !== undefined) throw usageFailure('Give the data once.')
  const data = jsonOf(given.argument(2) ?? flag, 'The data')
  const { data: _directory, ...others } = globals
  const asked = flag === undefined ? call : { ...call, globals: others }
  await withTarget(asked, async (target) => {
    const runId = await runIdOf(given.required(0), target.operator)
    const accepted = await sendSignal(target.client, runId, name, data, { signal: call.signal })
    if (accepted.error !== undefined) throw new RefusedAnswer(accepted, exitOfCode(accepted.code))
    if (mode.json) await out.json(accepted)
    else out.hint(`${name} was taken; the run is ${accepted.status}`)
  })
}

export async function complete(call: CommandContext<CompletionAccepted>): Promise<void> {
  const { given, mode, out } = call
  const [result, error] = [given.text('result'), given.text('error')]
  if (result !== undefined && error !== undefined) throw usageFailure('Give --result or --error, one of them.')
  const report = error === undefined ? { result: jsonOf(result, '--result') } : { error }
  await withTarget(call, async (target) => {
    const accepted = await completeCall(target.client, given.required(0), report, { signal: call.signal })
    if (mode.json) await out.json(accepted)
    else if (accepted.duplicate) out.hint('the same report had ended the call before; nothing has changed')
    else out.hint(`reported; run ${accepted.runId} is ${accepted.status}`)
  })
}

function isJson(text: string | undefined): boolean {
  try {
    return text !== undefined && parseJson(text) !== undefined
  } catch {
    return false
  }
}

/** @throws Failure `usage` for text that is no JSON */
function jsonOf(text: string | undefined, flag: string): JsonValue {
  if (text === undefined) return null
  try {
    return parseJson(text)
  } catch (error) {
    throw usageFailure(`${flag} is not JSON: ${(error as Error).message}`)
  }
}
