/** The status area of `svc dev`: server, versions, runs, tasks, the last problem and keys. Source: docs/design/command-line.md#asking */
import type { Instant } from '../base/clock.ts'
import type { Canvas } from './screen.ts'
import { safeText } from '../base/text/escape-text.ts'
import { truncateText, wrapText } from './text.ts'
import { widthOf } from './width.ts'
import { timeLeft } from '../base/text/short-text.ts'
import type { TextStyle } from './theme.ts'

export interface DevStatus {
  readonly url: string
  /** The identity that the server gives this person, for example `operator ana`. */
  readonly operator: string
  /** `namespace.name@version`, each deployed. */
  readonly versions: readonly string[]
  /** Runs that work now. */
  readonly running: number
  readonly waiting: readonly WaitingTaskLine[]
  /** What operators have paused, for example `tool acme.refunds`; absent if nothing. */
  readonly paused?: readonly string[]
  /** What the last save allows in addition, until the next save; empty where it widened nothing. */
  readonly wider: readonly string[]
  /** The last problem; absent if there was none or it is solved. */
  readonly problem?: string
  /** Each as `[k]ey`. */
  readonly keys: readonly string[]
}

export interface WaitingTaskLine {
  /** For example `acme.refunds amount 180`; safe. */
  readonly what: string
  readonly expiresAt?: Instant
}

/** Maximum numbers of versions, and of lines of wider authority, that are named. */
const SHOWN = 3

export function drawDevStatus({ theme, width }: Canvas, status: DevStatus, now: Instant): string[] {
  const { url, operator, versions, running, waiting, paused = [], wider, problem, keys } = status
  const [next] = waiting
  const deadline = next?.expiresAt === undefined ? '' : `, ${timeLeft(next.expiresAt - now)} left`
  const more = versions.length > SHOWN ? ` and ${versions.length - SHOWN} more` : ''
  const line = (text: string, style: TextStyle): string => style(truncateText(safeText(text), width))
  return [
    theme.dim('─'.repeat(width)),
    ...(wider.length === 0 ? [] : drawWider({ theme, width }, wider.slice(0, SHOWN), wider.length)),
    joinParts({ theme, width }, [
      { text: `server ${url.replace('http://', '')}`, style: theme.ok },
      { text: operator, style: theme.dim },
    ]),
    ...(versions.length === 0 ? [] : [line(`deployed ${versions.slice(0, SHOWN).join(', ')}${more}`, theme.name)]),
    joinParts({ theme, width }, [
      { text: `${running} running`, style: running > 0 ? theme.name : theme.dim },
      next === undefined
        ? { text: 'nothing waits', style: theme.dim }
        : { text: `${waiting.length} waiting: ${next.what}${deadline}`, style: theme.waiting },
    ]),
    ...(paused.length === 0 ? [] : [line(`paused ${paused.join(', ')}`, theme.waiting)]),
    ...(problem === undefined ? [] : [line(`problem ${problem}`, theme.bad)]),
    theme.dim(truncateText(keys.join(widthOf(keys.join('  ')) <= width ? '  ' : ' '), width)),
  ]
}

/** Lines of one change; the log above has it whole. */
const WIDER_LINES = 3

/** What a save lets agents do in addition: the most visible lines of the screen. */
function drawWider(
  { theme, width }: Pick<Canvas, 'theme' | 'width'>,
  changes: readonly string[],
  total = changes.length,
): string[] {
  const head = ` WIDER  agents may do more (${total} ${total === 1 ? 'change' : 'changes'}) `
  const room = Math.min(width, 120)
  const cut = truncateText(head, room)
  return [
    theme.wider(cut + ' '.repeat(Math.max(0, room - widthOf(cut)))),
    ...changes.flatMap((each) => {
      const lines = wrapText(safeText(each), room - 2)
      const hasMore = lines.length > WIDER_LINES
      const shown = lines
        .slice(0, WIDER_LINES)
        .map((line, at) => (hasMore && at === WIDER_LINES - 1 ? `${line} …` : line))
      return shown.map((line) => theme.strong(`  ${truncateText(line, room - 2)}`))
    }),
  ]
}

/** Parts side by side; what does not fit is cut, and what has no room at all is left out. */
function joinParts(
  { theme, width }: Pick<Canvas, 'theme' | 'width'>,
  parts: readonly { readonly text: string; readonly style: TextStyle }[],
): string {
  let room = width
  const shown: string[] = []
  for (const { text, style } of parts) {
    const gap = shown.length === 0 ? 0 : 3
    if (room - gap < Math.min(12, widthOf(text))) break
    const cut = truncateText(safeText(text), room - gap)
    shown.push(style(cut))
    room -= gap + widthOf(cut)
  }
  return shown.join(theme.dim(' · '))
}
