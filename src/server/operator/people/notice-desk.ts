/** What channels read of tasks and people, and how they decide for a person. Source: docs/design/notifications.md#clicks */
import { isFailure } from '../../../base/failure.ts'
import type { RunId } from '../../../base/ids.ts'
import type { TaskPeople } from '../../../spec/task.ts'
import { taskAddress } from '../../../view/console-address.ts'
import { describeDecided } from '../../../view/task-people.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import type { DeskTask, NoticeDesk } from '../../notify/channel.ts'
import { writeChatCard } from '../../notify/chat/chat-card.ts'
import { findElsewhereReason, seenOf } from '../../notify/chat/decide-in-chat.ts'
import { toShownTask } from '../../notify/message.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { localOperator } from './identify.ts'
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
    async decide({ taskId, seen, approved, comment, email, credentials }) {
      const task = await desk.readTask(taskId)
      if (!task) return 'Nothing was decided: the task was deleted.'
      if (task.status !== 'pending') return `Nothing was decided: ${describeEnd(task)}`
      const reason = findElsewhereReason(task, writeChatCard(task, true))
      if (reason !== undefined) return `Nothing was decided: ${reason}. Decide in the console.`
      if (seenOf(task) !== seen)
        return 'Nothing was decided: the task changed since this message was drawn. Read it again, then decide.'
      const by: OperatorPrincipal = {
        type: 'operator',
        id: email,
        proof: 'link',
        workspaceId: workspace.id,
        roles: [...new Set(credentials.flatMap(({ roles }) => roles))],
      }
      const accepted = await services.engine
        .answer(task.runId as RunId, {
          taskId,
          approved,
          by,
          origin: { channel: 'slack', proof: 'link' },
          ...(comment !== undefined && { text: comment }),
          // Arguments that are edited between this check and the vote are refused by their digest.
          metadata: { 'svc/arguments_digest': task.argumentsDigest! },
        })
        .catch((error: unknown) => {
          if (isFailure(error)) return { error: error.message }
          throw error
        })
      // Somebody was faster.
      const now = accepted.error === undefined ? undefined : await desk.readTask(taskId)
      if (now && now.status !== 'pending') return `Nothing was decided: ${describeEnd(now)}`
      if (accepted.error !== undefined) return `Nothing was decided: ${accepted.error}`
      return 'duplicate' in accepted && accepted.duplicate ? 'You have said so already.' : undefined
    },
    linkOf: (id) => (serverState.consoleUrl === null ? undefined : taskAddress(serverState.consoleUrl, id)),
  }
  return desk
}

/** `it was approved by operator bo.` */
const describeEnd = ({ people, status }: DeskTask): string =>
  people?.decided ? `it was ${describeDecided(people.decided)}.` : `it is ${status}.`

function forAnyReader(people: TaskPeople): TaskPeople {
  const { looking: _, told: __, ...known } = people
  return { ...known, you: '', standing: 'may_answer' }
}
