/** Naming, holding and erasing sessions. Source: docs/design/http.md#sessions-and-lists */
import { shortId } from '../../../base/text/short-text.ts'
import { metadataOf } from '../../project/metadata.ts'
import { requestCommand } from '../../project/request-command.ts'
import { sessionIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export const sessionsSet = requestCommand(
  'PATCH /sessions/:id',
  (call) => {
    const body = changesOf(call)
    if (Object.keys(body).length === 0)
      throw usageFailure('There is nothing to set.', '--title, --metadata, --tag or --legal-hold')
    return async (operator) => ({ id: await sessionIdOf(call.given.required(0), operator), body })
  },
  (call, { id }) => call.out.line(`set ${Object.keys(changesOf(call)).join(', ')} of session ${shortId(id)}`),
)

function changesOf({ given }: Pick<CommandContext, 'given'>) {
  const title = given.text('title')
  const metadata = metadataOf(given.list('metadata')) as Record<string, string> | undefined
  const tags = given.list('tag')
  const legalHold = given.choice('legal-hold')
  return {
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(tags.length > 0 && { tags }),
    ...(legalHold !== undefined && { legalHold }),
  }
}

export const sessionsDelete = requestCommand(
  'DELETE /sessions/:id',
  (call) => async (operator) => {
    const id = await sessionIdOf(call.given.required(0), operator)
    const isSure = await confirmLoss(call, `Erase what session ${shortId(id)} says? Its ids, times and costs stay.`)
    return isSure ? { id } : undefined
  },
  ({ out }, { id }) => out.line(`erased session ${shortId(id)}`),
)
