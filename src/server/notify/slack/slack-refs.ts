/** Which messages of Slack show which tasks: kept in the receipts of notices, so that any process finds them. */
import type { TaskId } from '../../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { StoredNotice } from '../../../spec/notice.ts'
import { textIn } from './draw-blocks.ts'

/** A message as Slack names it, and what it shows. */
export interface SlackRef {
  /** The channel or the person to which it was sent. */
  readonly to: string
  readonly channel: string
  readonly ts: string
  /** Several in a list; none where it is about something else. */
  readonly tasks: readonly TaskId[]
}

export const toReceipt = (refs: readonly SlackRef[]): JsonObject => ({
  messages: refs.map(({ tasks, ...ref }) => ({ ...ref, tasks: [...tasks] })),
})

export function readRefs({ receipt }: Pick<StoredNotice, 'receipt'>): readonly SlackRef[] {
  const messages: JsonValue | undefined = receipt?.['messages']
  return Array.isArray(messages) ? messages.flatMap(readRef) : []
}

function readRef(given: JsonValue): readonly SlackRef[] {
  const [to, channel, ts] = ['to', 'channel', 'ts'].map((name) => textIn(given, name))
  const tasks = isJsonObject(given) && Array.isArray(given['tasks']) ? given['tasks'] : []
  if (to === undefined || channel === undefined || ts === undefined) return []
  return [{ to, channel, ts, tasks: tasks.filter((each): each is TaskId => typeof each === 'string') }]
}

/** The messages of a channel of the configuration that show a task, each once. */
export function refsOfTask(notices: readonly StoredNotice[], channel: string, task: TaskId): readonly SlackRef[] {
  const refs = notices.filter((notice) => notice.channel === channel).flatMap(readRefs)
  const showing = refs.filter(({ tasks }) => tasks.includes(task))
  return [...new Map(showing.map((ref) => [keyOfRef(ref), ref])).values()]
}

export const keyOfRef = ({ channel, ts }: Pick<SlackRef, 'channel' | 'ts'>): string => `${channel} ${ts}`
