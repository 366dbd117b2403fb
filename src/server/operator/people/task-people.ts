/** The people of a task: who asked, who voted and who may still answer, by the names of people and keys. */
import { toIsoText } from '../../../base/clock.ts'
import type { DecisionOrigin } from '../../../spec/people/decision-proof.ts'
import {
  findUnprovedVote,
  MAX_CANDIDATES,
  type TaskPeople,
  type TaskRecord,
  type TaskStanding,
  type ToldChannel,
} from '../../../spec/task.ts'
import { isSameApprover, type ApiKey, type OperatorKey } from '../../../spec/people/key.ts'
import { hasNeededRoles } from '../../../spec/people/approver-role.ts'
import { describeClaimed, describeOperator, describeOrigin } from '../../../view/task/task-people.ts'
import { runsById, starterAbove } from '../../../spec/run/run-starter.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { StoredNotice } from '../../../spec/notice.ts'
import type { RunStarter } from '../../../spec/run/starter.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import { readRecipients } from '../../notify/recipients.ts'

/** Describes the people of tasks to one operator. */
export type DescribePeople = (task: TaskRecord, run: Run) => Promise<TaskPeople>

/** Reads keys and credentials once, for all tasks of a request. */
export async function createPeopleReader(
  { store, workspace, clock, config }: ServerServices,
  you: OperatorPrincipal,
): Promise<DescribePeople> {
  const now = clock.now()
  const [keys, credentials, claims] = await Promise.all([
    store.keys(workspace.id),
    store.operatorKeys(workspace.id),
    store.taskClaims(workspace.id, now),
  ])
  const valid = credentials.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
  )
  const nameOf = (approver: string): string => describeIdentity(approver, keys)
  return async (task, run) => {
    const session = await store.session(run.sessionId)
    const startedBy = session && starterAbove(run, runsById(await store.treesOf(session.id, [run.id])), session)
    const starter = startedBy && starterIdentity(startedBy)
    const isStarter = (each: string): boolean =>
      separationOfDuties && starter !== undefined && isSameApprover(each, starter)
    const me = `operator:${you.id}`
    const { approverRole, separationOfDuties = false, edits, answer } = task
    const looking = claims
      .filter(({ taskId }) => taskId === task.id && task.status === 'pending')
      .map(({ operator }) => ({ by: nameOf(operator), isYou: operator === me }))
    const [votes, lastEdit] = [task.votes, edits?.at(-1)]
    const candidates = candidatesFor(valid, approverRole)
      .filter((each) => each !== me && !isStarter(each))
      .filter((each) => !votes.some(({ approver }) => isSameApprover(approver, each)))
    const findStanding = (): TaskStanding => {
      if (votes.some(({ approver }) => isSameApprover(approver, me))) return 'voted'
      if (!hasNeededRoles(you.roles, approverRole)) return 'no_role'
      if (isStarter(me)) return 'starter'
      return findUnprovedVote(you, task) === undefined ? 'may_answer' : 'no_proof'
    }
    const standing = findStanding()
    // Without channels nobody was told, and nothing is read.
    const notices = config.notify ? await store.noticesOfTask(task.id) : []
    // A message that is drawn anew tells nobody.
    const told = notices.filter(({ event }) => event !== 'task.changed')
    return {
      startedBy: startedBy ? nameOfStarter(startedBy, nameOf) : 'unknown',
      versionLabel: run.versionLabel,
      ...(approverRole !== undefined && { role: approverRole }),
      you: nameOf(me),
      standing,
      votes: votes.map(({ approver, approved }) => ({
        by: nameOf(approver),
        approved,
        ...howOf(task.voteOrigins?.[approver]),
      })),
      candidates: candidates.slice(0, MAX_CANDIDATES).map(nameOf),
      ...(looking.length > 0 && { looking }),
      ...(told.length > 0 && { told: told.map(toToldChannel) }),
      ...(lastEdit && { editedBy: nameOf(lastEdit.approver) }),
      ...(task.status !== 'pending' && {
        decided: {
          by: answer?.completedBy === undefined ? 'nobody' : nameOf(answer.completedBy),
          outcome: answer?.outcome ?? task.status,
          at: toIsoText(task.completedAt ?? task.createdAt),
          ...(answer?.comment !== undefined && { comment: answer.comment }),
          ...howOf(answer?.origin),
        },
      }),
    }
  }
}

const howOf = (origin: DecisionOrigin | undefined): { readonly how?: string } =>
  origin === undefined ? {} : { how: describeOrigin(origin.channel, origin.proof) }

function toToldChannel(notice: StoredNotice): ToldChannel {
  const { channel, event, state, endedAt, dueAt, error } = notice
  const to = readRecipients(notice)
  return {
    channel,
    ...(to.length > 0 && { to }),
    event,
    state,
    at: toIsoText(endedAt ?? dueAt),
    ...(error !== null && state !== 'delivered' && state !== 'moot' && { error }),
  }
}

/** `operator ana`, `key "web-shop"`; a key without a name by the beginning that lists show. */
function describeIdentity(approver: string, keys: readonly ApiKey[]): string {
  const [kind, id] = splitIdentity(approver)
  if (kind === 'operator') return describeOperator(id)
  if (kind === 'claimed') return describeClaimed(id)
  if (kind !== 'key') return `${kind} ${id}`
  const key = keys.find((each) => each.id === id)
  if (key?.person != null) return describeOperator(key.person)
  if (key === undefined) return 'a deleted key'
  return key.name === null ? `key ${key.prefix}…` : `key "${key.name}"`
}

function splitIdentity(approver: string): readonly [string, string] {
  const at = approver.indexOf(':')
  return [approver.slice(0, at), approver.slice(at + 1)]
}

/** People who have the role, or all with a credential if no role is required. */
const candidatesFor = (credentials: readonly OperatorKey[], role: string | undefined): string[] => [
  ...new Set(credentials.filter(({ roles }) => hasNeededRoles(roles, role)).map(({ email }) => `operator:${email}`)),
]

function starterIdentity({ triggerType, triggeredBy, person }: RunStarter): string | undefined {
  if (person !== null) return `operator:${person}`
  if (triggeredBy === null) return undefined
  return triggerType === 'api' ? `key:${triggeredBy}` : `operator:${triggeredBy}`
}

const nameOfStarter = (starter: RunStarter, nameOf: (identity: string) => string): string =>
  starter.triggerType === 'scheduled'
    ? `schedule "${starter.triggerName ?? starter.triggeredBy ?? ''}"`
    : nameOf(starterIdentity(starter) ?? 'operator:unknown')
