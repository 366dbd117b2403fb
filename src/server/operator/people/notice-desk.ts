/** What channels read of tasks and people, and how they decide for a person. Source: docs/design/notifications.md#clicks */
import type { TaskPeople } from '../../../spec/task.ts'
import { taskAddress } from '../../../view/console-address.ts'
import type { NoticeDesk } from '../../notify/channel.ts'
import { toShownTask } from '../../notify/message.ts'
import { localOperator } from '../../runtime/local-operator.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { decideFromOutside } from './decide-from-outside.ts'
import { createDecisionLink } from './decision-link.ts'
import { createPeopleReader } from './task-people.ts'

export function createNoticeDesk(services: ServerServices): NoticeDesk {
  const { store, workspace, clock, redactor, serverState } = services
  const desk: NoticeDesk = {
    async readTask(id) {
      const task = await store.task(id)
      const run = task && (await store.run(task.runId))
      if (!task || run?.workspaceId !== workspace.id) return undefined
      // A message has many readers, so it says of none whether they may answer.
      const describe = await createPeopleReader(services, localOperator('', workspace.id))
      return redactor.json(toShownTask(task, run, forAnyReader(await describe(task, run))))
    },
    noticesOf: (id) => store.noticesOfTask(id),
    async listPeople() {
      const now = clock.now()
      return (await store.operatorKeys(workspace.id)).filter(
        ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
      )
    },
    decide: (click) => decideFromOutside(services, click, () => desk.readTask(click.taskId)),
    linkOf: (id) => (serverState.consoleUrl === null ? undefined : taskAddress(serverState.consoleUrl, id)),
    createDecisionLink: (task, email, withinMs) => createDecisionLink(services, task, email, withinMs),
  }
  return desk
}

function forAnyReader(people: TaskPeople): TaskPeople {
  const { looking: _, told: __, ...known } = people
  return { ...known, you: '', standing: 'may_answer' }
}
