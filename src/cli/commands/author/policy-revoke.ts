import { fail } from '../../../base/failure.ts'
import { requestCommand } from '../../project/request-command.ts'

/** Ends a standing authority at once, or restores it. */
export const policyRevoke = requestCommand(
  'POST /policies/revoke',
  ({ given }) => {
    const reason = given.text('reason')
    if (reason === undefined || reason.trim() === '')
      throw fail('usage', { what: '--reason says why; it is recorded.' })
    return { body: { name: given.required(0), reason, undo: given.flag('undo') } }
  },
  ({ out }, { name, revoked, changed, agents }) =>
    out.line(`${name} is ${revoked ? 'ended' : 'in force again'}${changed ? '' : ', as it was'}: ${agents.join(', ')}`),
)
