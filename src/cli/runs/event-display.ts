/** Shows the events of a run as lines; while a card is open they wait. */
import { safeText } from '../../base/text/escape-text.ts'
import { stepOf, type StreamEvent } from '../../client/index.ts'
import type { ToolProgress } from '../../tools/tool.ts'
import { createLiveTimeline } from '../../terminal/timeline.ts'
import type { CommandContext } from '../shell/command.ts'
import { messageScreen } from '../shell/screen/list.ts'

export type FollowDetail = 'all' | 'steps' | 'text' | 'none'

export interface DisplayOptions {
  readonly runId: string
  readonly show: FollowDetail
  /** Every event goes to stdout as it comes, one line of JSON each. */
  readonly events: boolean
}

export interface EventDisplay {
  readonly show: (event: StreamEvent) => void
  /** Holds events while a card is open, and shows them afterwards. */
  holdDuring<T>(card: () => Promise<T>): Promise<T>
  /** Leaves out the answer to a task whose card has told the outcome. */
  markTold(taskId: string): void
}

/** @param hasCards true if tasks are decided here: a card shows the details of its task */
export function createEventDisplay(
  call: Pick<CommandContext, 'io' | 'mode'>,
  { runId, show: detail, events }: DisplayOptions,
  hasCards: boolean,
): EventDisplay {
  const screen = messageScreen(call)
  const timeline = createLiveTimeline(screen, runId)
  const told = new Set<string>()
  const held: StreamEvent[] = []
  let isCardOpen = false
  const draw = (event: StreamEvent): void => {
    if (event.subject === 'engine.step.progress' && detail !== 'none' && detail !== 'text')
      screen.lines(screen.theme.dim(`  ${describeProgress(event.data)}`))
    const step = stepOf(event)
    if (detail === 'none' || !step) return
    if (detail === 'text' && step.type !== 'Reasoning') return
    if (step.type === 'UserTaskReq' && hasCards) return
    if (step.type === 'UserTaskRes' && step.content && told.has(step.content.user_task_id)) return
    if (isShownAtStart(step.type) === (event.subject === 'engine.step.started')) screen.lines(...timeline.add(step))
  }
  return {
    show(event) {
      if (isCardOpen && !events) held.push(event)
      else draw(event)
    },
    async holdDuring(card) {
      isCardOpen = true
      try {
        return await card()
      } finally {
        for (let event = held.shift(); event; event = held.shift()) draw(event)
        isCardOpen = false
      }
    },
    markTold: (taskId) => void told.add(taskId),
  }
}

/** `2 of 5: reading orders`. The message is the tool's. */
function describeProgress({ progress, total, message }: ToolProgress): string {
  const count = progress === undefined ? undefined : `${progress}${total === undefined ? '' : ` of ${total}`}`
  return [count, message === undefined ? undefined : safeText(message)].filter((each) => each !== undefined).join(': ')
}

/** Delegations and tasks are shown when they start, since they stay open for long; other steps when they end. */
export const isShownAtStart = (type: string): boolean => type === 'SubAgentCall' || type === 'UserTaskReq'
