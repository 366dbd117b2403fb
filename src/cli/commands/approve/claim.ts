/** `svc claim`: shows others that somebody is looking at a task. Anybody may still decide it. Source: docs/design/console.md#screens */
import { safeText } from '../../../base/escape-text.ts'
import { describeLooking, describeSubject } from '../../../view/task-card.ts'
import { readInboxItem } from '../../../view/task-content.ts'
import type { claimedTasks } from '../../answers/approve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { taskOf } from '../../project/reference.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { publishedItem } from './inbox.ts'

export async function claim(call: CommandContext<ValueOf<typeof claimedTasks>>): Promise<number> {
  const { given, mode, out } = call
  const leave = given.flag('leave')
  return await withOperator(await openProject(call), call, async (operator) => {
    const ids: string[] = []
    for (const text of given.rest(0)) ids.push((await taskOf(text, operator)).id)
    return await actOnEach(
      call,
      ids,
      async (id) => {
        const item = await operator.call('POST /tasks/:id/claim', { id, body: { leave } })
        const looking = describeLooking(item.people) ?? 'nobody is looking'
        if (!mode.json) out.line(`${describeSubject(readInboxItem(item))}: ${safeText(looking)}`)
        return publishedItem(item)
      },
      (userTaskId, error) => ({ userTaskId, error }),
    )
  })
}
