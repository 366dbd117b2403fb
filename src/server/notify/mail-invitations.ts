/** Who gets a mail of their own, and what they may decide by it. Source: docs/design/notifications.md#links-that-decide */
import { parseDuration } from '../../base/duration.ts'
import { foldIdentity } from '../../base/identity.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import { hasNeededRoles } from '../../spec/people/approver-role.ts'
import type { ChannelParts, DeskTask, NoticeMessage } from './channel.ts'
import { writeChatCard } from './chat/chat-card.ts'
import { findElsewhereReason } from './chat/decide-in-chat.ts'
import type { MailedNotice } from './mail-text.ts'

/** Notices of a mail with links: more are a list, which nobody decides by reading it. */
const MOST_WITH_LINKS = 5

/** Notices that ask for a decision. */
const ASKING: ReadonlySet<string> = new Set(['task.created', 'task.expiring'])

interface InvitedPerson {
  readonly person: string
  readonly roles: readonly string[]
  readonly withinMs: number
}

/** Recipients of one mail. */
export interface MailGroup {
  readonly to: readonly string[]
  /** The only recipient, who may get links that decide. */
  readonly invited?: InvitedPerson
}

export function createMailInvitations(
  { decide_within: within }: NonNullable<ChannelConfig['email']>,
  { desk }: Pick<ChannelParts, 'desk'>,
) {
  const withinMs = within === undefined ? undefined : parseDuration(within)

  const isAsking = ({ notice, task }: NoticeMessage): boolean => task !== undefined && ASKING.has(notice.event)

  async function rolesOf(person: string): Promise<readonly string[] | undefined> {
    const id = foldIdentity(person)
    const own = (await desk.listPeople()).filter(({ email }) => foldIdentity(email) === id)
    return own.length === 0 ? undefined : own.flatMap(({ roles }) => roles)
  }

  async function inviteTo(
    { notice: { taskId } }: NoticeMessage,
    { person, roles, withinMs: length }: InvitedPerson,
  ): Promise<MailedNotice['decide']> {
    const task = taskId === null ? undefined : await desk.readTask(taskId)
    if (task?.status !== 'pending') return undefined
    const reason = findReason(task, roles)
    return reason === undefined ? await desk.createDecisionLink(task, person, length) : { why: reason }
  }

  return {
    /** The mails of these notices: one to all, unless somebody gets links. */
    async groupRecipients(messages: readonly NoticeMessage[], to: readonly string[]): Promise<readonly MailGroup[]> {
      if (withinMs === undefined || messages.length > MOST_WITH_LINKS || !messages.some(isAsking)) return [{ to }]
      const people = new Map<string, InvitedPerson>()
      for (const person of to) {
        const roles = await rolesOf(person)
        if (roles) people.set(person, { person, roles, withinMs })
      }
      const others = to.filter((each) => !people.has(each))
      const own = [...people.values()].map((invited): MailGroup => ({ to: [invited.person], invited }))
      return [...own, ...(others.length > 0 ? [{ to: others }] : [])]
    },
    async invite(messages: readonly NoticeMessage[], { invited }: MailGroup): Promise<readonly MailedNotice[]> {
      if (!invited) return messages
      const mailed: MailedNotice[] = []
      for (const message of messages) {
        const decide = isAsking(message) ? await inviteTo(message, invited) : undefined
        mailed.push({ ...message, ...(decide && { decide }) })
      }
      return mailed
    },
  }
}

/** Why a person with these roles does not decide by a link; undefined where they may. */
function findReason(task: DeskTask, roles: readonly string[]): string | undefined {
  const reason = findElsewhereReason(task, writeChatCard(task, true))
  if (reason !== undefined) return reason
  return hasNeededRoles(roles, task.approverRole) ? undefined : `it needs the role ${task.approverRole}`
}
