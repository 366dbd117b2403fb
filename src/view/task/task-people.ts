/** Who asks, decides and is told about a task, in words. None of them is escaped. */
import { shortenText } from '../../base/text/cut-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import { PROOF_NAMES, type DecisionProof } from '../../spec/people/decision-proof.ts'
import type { ShownTask, TaskPeople, TaskStanding, ToldChannel } from '../../spec/task.ts'

/** Who approved or edited, where only the identity is known: a key is then named by its last digits. Not escaped. */
export const describeApprover = (by: string): string =>
  by
    .replace(KEY_ID, (_, id: string) => `key ${shortId(id)}`)
    .replace(/^server:.*$/, 'the server')
    .replace(/^operator:(.*)$/, (_, id: string) => describeOperator(id))
    .replace(/^claimed:(.*)$/, (_, id: string) => describeClaimed(id))

/** An API key as approver. */
const KEY_ID = /^key:([0-9a-f-]{36})$/

/** A person by the name of their credential; the local identity has none. Not escaped. */
export const describeOperator = (id: string): string => (id === 'operator' ? 'the operator' : `operator ${id}`)

/** Somebody whose name was only typed. Not escaped. */
export const describeClaimed = (name: string): string => `${name} (claimed, not proved)`

/** `approved by operator ana: checked with the customer`. Not escaped. */
export const describeDecided = ({ by, outcome, comment }: NonNullable<TaskPeople['decided']>): string =>
  `${outcome.replaceAll('_', ' ')}${by === 'nobody' ? '' : ` by ${by}`}${comment === undefined ? '' : `: ${comment}`}`

/** How each vote came, or the answer that decided alone. */
export function listWays({ votes, decided }: TaskPeople): readonly string[] {
  if (votes.length > 1 || !decided) return votes.flatMap(({ by, how }) => (how === undefined ? [] : [`${by} ${how}`]))
  return decided.how === undefined ? [] : [decided.how]
}

/** `in the console, with a passkey`; for channels that a newer server knows, their name. Not escaped. */
export const describeOrigin = (channel: string, proof: string): string =>
  WAYS[channel] ?? `${CHANNELS[channel] ?? `by ${channel}`}, with ${PROOF_NAMES[proof as DecisionProof] ?? proof}`

/** Channels that prove no more than that somebody reads what was sent to a person. */
const WAYS: Readonly<Record<string, string>> = {
  slack: 'in Slack, as the person of their e-mail address',
  email: 'with a one-time link in a mail',
}

const CHANNELS: Readonly<Record<string, string>> = {
  api: 'over the API',
  operator: 'on the operator channel',
  console: 'in the console',
  scenario: 'in a scenario',
}

/** `operator ana is looking`; undefined where nobody has said so. Not escaped. */
export function describeLooking({ looking = [] }: Pick<TaskPeople, 'looking'> = {}): string | undefined {
  const names = looking.map(({ by, isYou }) => (isYou ? 'you' : by))
  if (names.length === 0) return undefined
  const verb = names.length > 1 || names[0] === 'you' ? 'are' : 'is'
  return `${names.join(' and ')} ${verb} looking`
}

/** `mail: asked ana@acme.example, delivered 2026-11-29 10:00 UTC`; with why, where a try failed. */
export function describeTold({ channel, to = [], event, state, at, error }: ToldChannel): string {
  const more = to.length > MOST_TOLD ? ` and ${to.length - MOST_TOLD} more` : ''
  const whom = to.length === 0 ? '' : ` ${to.slice(0, MOST_TOLD).join(', ')}${more}`
  const when = `${TOLD_STATES[state] ?? state} ${at.slice(0, 16).replace('T', ' ')} UTC`
  const why = error === undefined ? '' : ` (${shortenText(error, MOST_OF_ERROR)})`
  return `${channel}: ${TOLD_EVENTS[event] ?? event}${whom}, ${when}${why}`
}

/** Addresses that are named. */
const MOST_TOLD = 5
const MOST_OF_ERROR = 120

const TOLD_EVENTS: Readonly<Record<string, string>> = {
  'task.created': 'asked',
  'task.expiring': 'reminded',
  'task.decided': 'told of the decision',
  'run.reviewed': 'told of the review',
  'budget.reached': 'told of the limit',
}

const TOLD_STATES: Readonly<Record<string, string>> = {
  waiting: 'due',
  moot: 'not needed since',
  dead: 'not delivered, given up',
}

export const STANDINGS: Readonly<Record<Exclude<TaskStanding, 'may_answer'>, (people: TaskPeople) => string>> = {
  voted: ({ you }) => `${you} has voted; somebody else decides now`,
  starter: ({ you }) => `${you} started this run, so somebody else decides`,
  no_role: ({ you, role }) => `${you} does not have the role ${role}`,
  no_proof: ({ you }) => `${you} has shown no credential, and only people with one decide this`,
}

/** Why the reader may not decide the task, in a few words; undefined if they may. Not escaped. */
export function describeNotYours({ standing, role }: Pick<TaskPeople, 'standing' | 'role'>): string | undefined {
  switch (standing) {
    case 'may_answer':
      return undefined
    case 'no_role':
      return `needs the role ${role}`
    case 'voted':
      return 'you have voted'
    case 'no_proof':
      return 'needs your credential'
    default:
      return 'you started the run'
  }
}

/** `1 of 2: operator ana; waits for another treasurer: operator bo or operator cleo`. Not escaped. */
export function describeVotes(task: ShownTask): string {
  const { approvalsReceived: have, approvalsRequired: need = 1, people } = task
  const voters = people?.votes.filter(({ approved }) => approved).map(({ by }) => by) ?? []
  const count = `${have} of ${need}${voters.length > 0 ? `: ${voters.join(', ')}` : ''}`
  const missing = describeMissing(task)
  return missing === undefined ? count : `${count}; ${missing}`
}

/** `waits for another treasurer: operator bo or operator cleo`; undefined where anybody may answer alone. Not escaped. */
export function describeMissing({
  approvalsReceived: have,
  approvalsRequired: need = 1,
  people,
}: Pick<ShownTask, 'approvalsReceived' | 'approvalsRequired' | 'people'>): string | undefined {
  const missing = need - have
  const { role, candidates = [] } = people ?? {}
  if (missing <= 0 || (need === 1 && role === undefined)) return undefined
  const many = role === undefined ? `${missing} people` : `${missing} with the role ${role}`
  const count = missing > 1 ? many : `${have > 0 ? 'another' : 'a'} ${role ?? 'person'}`
  const named = role !== undefined && candidates.length > 0
  return `waits for ${count}${named ? `: ${candidates.join(' or ')}` : ''}`
}
