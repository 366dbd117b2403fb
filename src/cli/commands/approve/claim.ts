/** `svc claim`: shows others that somebody is looking at a task. Anybody may still decide it. Source: docs/design/console.md#screens */
import { safeText } from '../../../base/text/escape-text.ts'
import { describeLooking } from '../../../view/task/task-people.ts'
import { describeSubject } from '../../../view/task/task-subject.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import { eachCommand } from '../../project/request-command.ts'
import { taskOf } from '../../project/reference.ts'
import { publishedItem } from './inbox.ts'

export const claim = eachCommand('POST /tasks/:id/claim', {
  async find(texts, operator) {
    const ids: string[] = []
    for (const text of texts) ids.push((await taskOf(text, operator)).id)
    return ids
  },
  ask: ({ given }) => ({ body: { leave: given.flag('leave') } }),
  toItem: publishedItem,
  describe: (item) =>
    `${describeSubject(readInboxItem(item))}: ${safeText(describeLooking(item.people) ?? 'nobody is looking')}`,
  idField: 'userTaskId',
})
