/** One step, whole: read when it is chosen. */
import { safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { TimelineItem } from '../../../spec/api.ts'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { useKeys } from '../../parts/keys.ts'
import { TimeOfDay } from '../../parts/moments.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { ErrorNote, Loading } from '../../parts/states.tsx'
import { withQuery } from '../../wire/navigation.ts'
import { useOperator } from '../../wire/resource.ts'
import { nameOfStep } from '../../timeline/timeline-view.tsx'

export function StepPanel({
  runId,
  isRoot,
  ordinal,
  answer,
  onClose,
}: {
  readonly runId: string
  /** Only root runs are forked. */
  readonly isRoot: boolean
  readonly ordinal: number
  /** The step that answers it, where it is a call. */
  readonly answer: number | undefined
  readonly onClose: () => void
}): View {
  useKeys({ Escape: onClose })
  const step = useOperator('GET /runs/:id/step', { id: runId, query: { ordinal: String(ordinal) } })
  const item = step.value
  return (
    <aside class="step-panel" aria-label="Step">
      <header>
        <h2>{item ? nameOfStep(item.type) : `Step ${ordinal}`}</h2>
        <span class="dim">
          #{ordinal}
          {item?.startedAt ? (
            <>
              {' '}
              · <TimeOfDay at={item.startedAt} />
            </>
          ) : (
            ''
          )}
        </span>
        <button type="button" class="button quiet small" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <ErrorNote error={step.error} />
      {item ? (
        <>
          <StepContent item={item} isRoot={item.runId === runId && isRoot} />
          {answer !== undefined && <CallAnswer runId={runId} ordinal={answer} />}
        </>
      ) : (
        !step.error && <Loading rows={4} />
      )}
    </aside>
  )
}

/** What a tool or a sub-agent answered. */
function CallAnswer({ runId, ordinal }: { readonly runId: string; readonly ordinal: number }): View {
  const { value, error } = useOperator('GET /runs/:id/step', { id: runId, query: { ordinal: String(ordinal) } })
  if (!value) return error ? <ErrorNote error={error} /> : <Loading rows={2} />
  const content: JsonObject = isJsonObject(value.content) ? value.content : {}
  return (
    <>
      <h3>Answer</h3>
      {value.error !== null && (
        <p class="note bad">
          <Icon name="warning" />
          <span>{safeText(value.error)}</span>
        </p>
      )}
      <JsonView value={content['result'] ?? content['output'] ?? null} />
    </>
  )
}

/** Ids that every step repeats. */
const REPEATED = new Set(['step_kind', 'session_id', 'run_id', 'tenant_id', 'agent_id', 'agent_version_id', 'event_id'])

/** Texts that are read, not inspected. */
const TEXTS = ['text', 'explanation', 'reason', 'comment'] as const

function StepContent({ item, isRoot }: { readonly item: TimelineItem; readonly isRoot: boolean }): View {
  const content: JsonObject = isJsonObject(item.content) ? item.content : {}
  const rest = Object.entries(content).filter(
    ([name, value]) =>
      !REPEATED.has(name) && !(TEXTS as readonly string[]).includes(name) && value !== null && !isEmpty(value),
  )
  const task = content['user_task_id']
  return (
    <>
      {item.error !== null && (
        <p class="note bad">
          <Icon name="warning" />
          <span>{safeText(item.error)}</span>
        </p>
      )}
      {TEXTS.map(
        (name) =>
          typeof content[name] === 'string' &&
          content[name] !== '' && (
            <p class="step-text" key={name}>
              <LongText text={content[name]} />
            </p>
          ),
      )}
      {typeof task === 'string' && (
        <p>
          <a href={`/inbox/${task}`}>Open the task</a>
        </p>
      )}
      <div class="buttons">
        {item.type === 'PolicyDecision' && (
          <a class="button small" href={`/runs/${item.runId}?tab=why&decision=${item.id}`}>
            <Icon name="policies" />
            Why, line by line
          </a>
        )}
        <a class="button small" href={withQuery({ tab: 'conversation' })}>
          <Icon name="message" />
          In the conversation
        </a>
        {isRoot && (
          <a class="button small" href={withQuery({ fork: String(item.ordinal) })}>
            <Icon name="runs" />
            Fork after this step
          </a>
        )}
      </div>
      <dl class="step-values">
        {rest
          .filter(([name]) => name !== 'policies')
          // What a step is about comes before the ids.
          .toSorted(([a], [b]) => +a.endsWith('id') - +b.endsWith('id'))
          .map(([name, value]) => (
            <div key={name}>
              <dt>{safeText(name.replaceAll('_', ' '))}</dt>
              <dd>
                <JsonView value={value} />
              </dd>
            </div>
          ))}
      </dl>
    </>
  )
}

const isEmpty = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0
