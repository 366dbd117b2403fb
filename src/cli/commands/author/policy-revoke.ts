import { fail } from '../../../base/failure.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'

/** Ends a standing authority at once, or restores it. */
export async function policyRevoke(call: CommandContext<OperatorAnswer<'POST /policies/revoke'>>): Promise<void> {
  const { given, mode, out } = call
  const name = given.argument(0)!
  const reason = given.text('reason')
  if (reason === undefined || reason.trim() === '') throw fail('usage', { what: '--reason says why; it is recorded.' })
  await withOperator(await openProject(call), call, async (operator) => {
    const answer = await operator.call('POST /policies/revoke', { body: { name, reason, undo: given.flag('undo') } })
    if (mode.json) return await out.json(answer)
    const state = answer.revoked ? 'ended' : 'in force again'
    out.line(`${name} is ${state}${answer.changed ? '' : ', as it was'}: ${answer.agents.join(', ')}`)
  })
}
