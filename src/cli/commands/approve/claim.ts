/** `svc claim`: shows others that somebody is looking at a task. Anybody may still decide it. Source: console, 2. */
import { safeText } from '../../../base/escape-text.ts'
import type { InboxItem } from '../../../spec/operator/inbox.ts'
import { describeLooking, describeSubject } from '../../../spec/view/task-card.ts'
import { readInboxItem } from '../../../spec/view/task-content.ts'
import type { inboxAnswer } from '../../answers/approve.ts'
import type { AnswerOf } from '../../answers/schema.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { taskOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { publishedItem } from './inbox.ts'

export async function claim(call: CommandContext<AnswerOf<typeof inboxAnswer>>): Promise<void> {
  const { given, mode, out } = call
  const leave = given.flag('leave')
  await withOperator(await openProject(call), call, async (operator) => {
    const ids: string[] = []
    for (const text of given.rest(0)) ids.push((await taskOf(text, operator)).id)
    const items: InboxItem[] = []
    for (const id of ids) items.push(await operator.call('POST /tasks/:id/claim', { id, body: { leave } }))
    if (mode.json) return await out.json({ items: items.map(publishedItem), total: items.length })
    for (const item of items) {
      const looking = describeLooking(item.people) ?? 'nobody is looking'
      out.line(`${describeSubject(readInboxItem(item))}: ${safeText(looking)}`)
    }
  })
}
