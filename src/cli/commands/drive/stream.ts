import { stepOf, type StreamEvent } from '../../../client/index.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { createLiveTimeline } from '../../../terminal/timeline.ts'
import type { CommandContext } from '../../shell/command.ts'
import { createForward } from '../../runs/forward.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { runIdOf } from '../../project/reference.ts'
import { withTarget } from '../../project/server/target.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** The raw events: machine output in every mode but `--pretty`. */
export async function stream(call: CommandContext<unknown>): Promise<void> {
  const { given, out, signal } = call
  const kinds = given.list('kind')
  const [subject, until] = [globOf(given.text('subject')), given.text('until')]
  const after = wholeNumber(given.text('after'), 'after')
  const address = given.text('forward-to')
  const forward = address === undefined ? undefined : createForward(call, address)
  await withTarget(call, async (target) => {
    const runId = await runIdOf(given.required(0), target.operator)
    const print = forward ?? (given.flag('pretty') ? pretty(call) : (event: StreamEvent) => out.ndjson(event))
    const options = {
      signal,
      reconnect: given.choice('reconnect') !== false,
      ...(after !== undefined && { lastEventId: String(after) }),
    }
    for await (const event of target.client.streamRunEvents(runId, options)) {
      if ((kinds.length === 0 || kinds.includes(event.kind)) && subject(event.subject)) await print(event)
      if (event.subject === until) return
    }
  })
}

function pretty(call: CommandContext): (event: StreamEvent) => Promise<void> {
  const screen = answerScreen(call)
  const timeline = createLiveTimeline(screen)
  return async (event) => {
    const step = stepOf(event)
    screen.lines(
      ...(step ? timeline.add(step) : [`${screen.theme.dim(event.ts.slice(11, 19))}  ${safeText(event.subject)}`]),
    )
  }
}

/** `*` matches any text. */
function globOf(glob: string | undefined): (subject: string) => boolean {
  if (glob === undefined) return () => true
  if (!/^[A-Za-z0-9_.*]+$/.test(glob)) throw usageFailure(`"${glob}" is not a subject.`, 'For example engine.step.*')
  const pattern = new RegExp(`^${glob.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`)
  return (subject) => pattern.test(subject)
}
