/** Naming, holding and erasing sessions. Source: docs/design/http.md#sessions-and-lists */
import { shortId } from '../../../base/short-text.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { metadataOf } from '../../project/metadata.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { sessionIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

export async function sessionsSet(call: CommandContext<OperatorAnswer<'GET /sessions/:id'>>): Promise<void> {
  const { given, mode, out } = call
  const title = given.text('title')
  const metadata = metadataOf(given.list('metadata')) as Record<string, string> | undefined
  const tags = given.list('tag')
  const legalHold = given.choice('legal-hold')
  const body = {
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(tags.length > 0 && { tags }),
    ...(legalHold !== undefined && { legalHold }),
  }
  if (Object.keys(body).length === 0)
    throw usageFailure('There is nothing to set.', '--title, --metadata, --tag or --legal-hold')
  await withOperator(await openProject(call), call, async (operator) => {
    const id = await sessionIdOf(given.argument(0)!, operator)
    const session = await operator.call('PATCH /sessions/:id', { id, body })
    if (mode.json) return await out.json(session)
    out.line(`set ${Object.keys(body).join(', ')} of session ${shortId(id)}`)
  })
}

export async function sessionsDelete(call: CommandContext<OperatorAnswer<'GET /sessions/:id'>>): Promise<void> {
  const { given, mode, out } = call
  await withOperator(await openProject(call), call, async (operator) => {
    const id = await sessionIdOf(given.argument(0)!, operator)
    if (!(await confirmLoss(call, `Erase what session ${shortId(id)} says? Its ids, times and costs stay.`)))
      return out.message('kept')
    const session = await operator.call('DELETE /sessions/:id', { id })
    if (mode.json) return await out.json(session)
    out.line(`erased session ${shortId(id)}`)
  })
}
