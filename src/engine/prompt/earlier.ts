/**
 * The part of a session that the model of a continuing run gets: earlier messages and outputs, as far as they fit. The
 * number is chosen once, when the run starts, and stored in its first step. Source: docs/design/steering.md#a-conversation-goes-on
 */
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, textOf, type JsonObject } from '../../base/json/json.ts'
import { fromJsonList } from '../../base/json/typed-json.ts'
import type { ModelMessage } from '../../providers/provider.ts'
import { estimateTokens } from '../../providers/tokens.ts'
import { contextBudget, USUAL_WINDOW } from '../../spec/context-rule.ts'
import type { ModelTerms } from '../../spec/price.ts'
import type { Run } from '../../spec/run/run.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { tellUndone, type UndoneNote } from '../session/undone.ts'
import { fileNamesOf } from './input.ts'

/** Messages at most, however short. */
export const MAX_MESSAGES = 1000

export interface EarlierMessage {
  readonly by: 'user' | 'agent'
  readonly text: string
  readonly ordinal: number
}

/** The session as a run sees it. */
export interface SessionBefore {
  /** What was said in root runs before it, in order, as far back as it was read: of each run all, or nothing. */
  readonly said: readonly RunStep[]
  /** A note on the calls of the session that were undone since. */
  readonly undone: readonly UndoneNote[]
}

/** Messages and outputs of the root runs before this one, oldest first, as far back as they were read; none for a child. */
export const messagesBefore = (run: Run, session: SessionBefore): readonly EarlierMessage[] =>
  readBefore(run, session).flatMap(({ id, steps }) =>
    withUndone(
      messagesOfRun(steps),
      session.undone.filter(({ path }) => path.includes(id)),
    ),
  )

/** How many messages came before those of `messagesBefore`, from the first step of the oldest run that was read. */
export function countUnread(run: Run, session: SessionBefore): number {
  const earlier = earlierOf(readBefore(run, session)[0]?.steps ?? [])
  return earlier ? Number(earlier['messages']) + Number(earlier['left_out']) : 0
}

/** What was said in each root run before this one, oldest first. */
function readBefore(
  run: Run,
  { said }: SessionBefore,
): readonly { readonly id: RunId; readonly steps: readonly RunStep[] }[] {
  if (run.parentRunId !== null) return []
  const before: { readonly id: RunId; readonly steps: RunStep[] }[] = []
  for (const step of said) {
    if (step.runId === run.id) break
    const last = before.at(-1)
    if (last?.id === step.runId) last.steps.push(step)
    else before.push({ id: step.runId, steps: [step] })
  }
  return before
}

/** Adds the note on undone calls to the last message of a run, because the number of messages is fixed. */
function withUndone(messages: readonly EarlierMessage[], notes: readonly UndoneNote[]): readonly EarlierMessage[] {
  const [last, note] = [messages.at(-1), tellUndone(notes)]
  if (!last || note === undefined) return messages
  return [...messages.slice(0, -1), { ...last, text: `${last.text}\n\n[${note}]` }]
}

/** The count of earlier messages in the first step of a run. */
function earlierOf(steps: readonly RunStep[]): JsonObject | undefined {
  const earlier = steps.find(({ type }) => type === 'UserMessage')?.content['earlier']
  return isJsonObject(earlier) ? earlier : undefined
}

/** How many earlier messages a run is given, from its steps. */
export const countGiven = (steps: readonly RunStep[]): number => Number(earlierOf(steps)?.['messages'] ?? 0)

export function messagesOfRun(steps: readonly RunStep[]): readonly EarlierMessage[] {
  const asked = new Map(
    steps.flatMap(({ type, content, ordinal }) =>
      type === 'Reasoning' ? questionsIn(content).map(({ id, text }) => [id, { text, ordinal }] as const) : [],
    ),
  )
  return steps.flatMap((step): EarlierMessage[] => {
    const { type, content, ordinal } = step
    if (type === 'UserMessage') {
      const question = asked.get(textOf(content['reply_to']))
      const files = fileNamesOf(step)
      const text = textOf(content['text']) + (files.length > 0 ? `\n\n[Files: ${files.join(', ')}]` : '')
      return [...(question ? [{ by: 'agent' as const, ...question }] : []), { by: 'user', text, ordinal }]
    }
    if (type === 'Output') {
      const output = content['output'] ?? null
      return [{ by: 'agent', text: typeof output === 'string' ? output : JSON.stringify(output), ordinal }]
    }
    if (type === 'RunCompleted' && content['status'] !== 'Completed' && !steps.some((each) => resumes(each, ordinal)))
      return [{ by: 'agent', text: `[This run ended without an output: ${textOf(content['status'])}.]`, ordinal }]
    return []
  })
}

const resumes = (step: RunStep, end: number): boolean => step.type === 'RunResumed' && step.ordinal > end

/** Questions to the user among the calls of a completion. */
const questionsIn = (content: JsonObject): readonly { readonly id: string; readonly text: string }[] =>
  (Array.isArray(content['tool_calls']) ? content['tool_calls'] : []).flatMap((call) => {
    const given = isJsonObject(call) ? call['arguments'] : undefined
    const text = isJsonObject(given) ? given['message'] : undefined
    return isJsonObject(call) && typeof text === 'string' ? [{ id: textOf(call['id']), text }] : []
  })

/** Tokens that earlier messages may take: what `svc/context` says, else a quarter of the model's context window. */
export const roomForEarlier = ({ context }: AgentSnapshot, { contextWindow = USUAL_WINDOW }: ModelTerms): number =>
  context ? contextBudget(context, contextWindow) : Math.floor(contextWindow / 4)

/**
 * How many earlier messages a run gets, for its first step; undefined if there are none.
 * @param unread messages before those
 * @param room tokens that it may take
 */
export function chooseEarlier(before: readonly EarlierMessage[], unread: number, room: number): JsonObject | undefined {
  if (before.length === 0) return undefined
  let left = room
  let count = 0
  for (const { text } of before.toReversed()) {
    left -= estimateTokens(text.length)
    if (left < 0 || count === MAX_MESSAGES) break
    count++
  }
  const first = before.at(-count)
  return {
    messages: count,
    left_out: unread + before.length - count,
    ...(count > 0 && first && { from_ordinal: first.ordinal }),
  }
}

/** The first step of a run as the first step of another session: it includes the earlier messages. */
export function withEarlierTexts(content: JsonObject, before: readonly EarlierMessage[]): JsonObject {
  const { earlier } = content
  if (!isJsonObject(earlier) || Array.isArray(earlier['texts'])) return content
  const count = Number(earlier['messages'])
  const texts = (count === 0 ? [] : before.slice(-count)).map((message): JsonObject => ({ ...message }))
  return { ...content, earlier: { ...earlier, texts } }
}

/** The earlier messages that a run gets, as chosen when it started. */
export function toEarlierMessages(steps: readonly RunStep[], before: readonly EarlierMessage[]): ModelMessage[] {
  const earlier = earlierOf(steps)
  if (!earlier) return []
  const count = Number(earlier['messages'])
  const kept = earlier['texts']
  const leftOut = Number(earlier['left_out'])
  const note =
    leftOut === 0
      ? []
      : [toUserMessage(`[${leftOut} earlier ${leftOut === 1 ? 'message' : 'messages'} of this conversation left out.]`)]
  const last = count === 0 ? [] : before.slice(-count)
  const given = Array.isArray(kept) ? fromJsonList<EarlierMessage>(kept, 'by', 'text') : last
  return [
    ...note,
    ...given.map(({ by, text }): ModelMessage =>
      by === 'user' ? toUserMessage(text) : { role: 'assistant', text, calls: [] },
    ),
  ]
}

const toUserMessage = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] })
