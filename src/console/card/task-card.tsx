/** The card of a task. All words come from `presentTask`, which the terminal draws from too; nothing is added to them. */
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import { presentTask, type CardRow, type TaskCard } from '../../view/task/task-card.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { UnreadValues } from '../../view/task/card-reading.ts'
import { shortDigest } from '../wire/digest.ts'
import { EffectBadge } from '../parts/badge.tsx'
import type { Child, View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { exactTime, now } from '../wire/moment.ts'
import { mayDecide, type ShownDigest } from './decision.ts'
import { CardValues, isFolded, type OpenedValues, type OnOpen } from './card-values.tsx'
import { useSignal } from '../wire/use-signal.ts'

/** Places of the long values of a card. */
export const foldedPlaces = ({ rows }: TaskCard): readonly string[] =>
  rows.flatMap((row) =>
    'values' in row ? row.values.flatMap((value, at) => (isFolded(value) ? [`${row.label}/${at}`] : [])) : [],
  )

/** Those that must be opened before what cannot be undone is approved. */
export function countUnreadValues(card: TaskCard, opened: OpenedValues): UnreadValues {
  const places = foldedPlaces(card)
  return {
    folded: places.filter((place) => !opened.has(place)).length,
    opened: places.filter((place) => opened.get(place) === false).length,
  }
}

export function TaskCardView({
  task,
  digest,
  opened,
  onOpen,
  links,
  footer,
}: {
  readonly task: ShownTask
  /** Undefined until it is computed. */
  readonly digest: ShownDigest | undefined
  readonly opened: OpenedValues
  readonly onOpen: OnOpen
  /** What else can be done with the task. */
  readonly links: Child
  readonly footer: Child
}): View {
  const card = presentTask(task, useSignal(now))
  const isClosed = task.people?.decided !== undefined
  // Whoever may choose has the options below the card.
  const isOffered = (label: string): boolean => mayDecide(task) && (label === 'options' || label === '')
  return (
    <article
      class={`card ${isClosed ? 'closed' : ''} ${card.needsSecondAct ? 'irreversible' : ''}`}
      aria-labelledby="card-title"
    >
      <header class="card-head">
        <h2 id="card-title">{card.title}</h2>
        <div class="card-marks">
          {task.tool && <EffectBadge effect={task.tool.side_effect_class ?? ''} />}
          <Deadline task={task} text={card.deadline} />
        </div>
      </header>
      <div class="card-rows">
        {card.rows
          .filter(({ label }) => !isOffered(label))
          .map((row, at) => (
            <Row key={at} row={row} opened={opened} onOpen={onOpen} />
          ))}
      </div>
      <div class="card-links">
        <a href={`/runs/${task.runId}`}>Run {shortId(task.runId)}</a>
        <a href={`/runs/${task.runId}?tab=conversation`}>Conversation</a>
        {task.tool && (
          <>
            <a href={whyAddress(task)}>
              Why <kbd>w</kbd>
            </a>{' '}
            <a href={whatIfAddress(task)}>What if</a>
          </>
        )}
        {links}
        <DigestLine digest={digest} />
      </div>
      {footer}
    </article>
  )
}

/** The decision that stopped the call. */
export const whyAddress = ({ runId, tool, argumentsDigest = '' }: ShownTask): string =>
  `/runs/${runId}?${new URLSearchParams({ tab: 'why', tool: tool?.ref ?? '', args: argumentsDigest })}`

/** The policies of the version that asks. */
const whatIfAddress = ({ agent }: ShownTask): string => {
  const [name = '', version = ''] = agent.split('@')
  return `/policies?${new URLSearchParams({ agent: name, version })}`
}

function Row({
  row,
  opened,
  onOpen,
}: {
  readonly row: CardRow
  readonly opened: OpenedValues
  readonly onOpen: OnOpen
}): View {
  const content =
    'values' in row ? (
      <CardValues label={row.label} values={row.values} opened={opened} onOpen={onOpen} />
    ) : (
      <p class={`row-text ${row.emphasis ?? ''}`}>
        {row.text}
        {row.runId !== undefined && (
          <>
            {' '}
            <a href={`/runs/${row.runId}`}>Earlier run</a>
          </>
        )}
        {row.place !== undefined && <span class="place">{row.place}</span>}
      </p>
    )
  return (
    <section class={`row ${row.label}`}>
      {row.label === '' ? <span></span> : <h3>{row.label}</h3>} {content}
    </section>
  )
}

/** Minutes before the end in which a deadline is urgent. */
const URGENT_MS = 5 * 60_000

function Deadline({ task, text }: { readonly task: ShownTask; readonly text: string | undefined }): View | null {
  const { expiresAt, people } = task
  const time = useSignal(now)
  if (expiresAt === undefined || text === undefined || people?.decided !== undefined) return null
  const isUrgent = expiresAt - time < URGENT_MS
  return (
    <span class={`deadline ${isUrgent ? 'urgent' : ''}`} title={exactTime(expiresAt)}>
      <Icon name="clock" />
      {text}
      {isUrgent && (
        <span class="unseen" role="alert">
          This task expires soon.
        </span>
      )}
    </span>
  )
}

const DigestLine = ({ digest }: { readonly digest: ShownDigest | undefined }): View =>
  digest === undefined ? (
    <span class="digest">digest …</span>
  ) : (
    <span class="digest" title={safeText(digest.view)}>
      digest <code>{shortDigest(digest.view)}</code>
    </span>
  )
