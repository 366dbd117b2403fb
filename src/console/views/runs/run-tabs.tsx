/** Further looks at a run: what was said, its events, and everything as it is stored. */
import { useState } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import { describeOrigin } from '../../../view/task/task-people.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import type { Conversation, TimelineItem } from '../../../spec/api.ts'
import type { RunOutline } from '../../../operations/runs.ts'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { LongText, referenceIn, StoredValue } from '../../parts/long-text.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { TimeOfDay } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { address, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutNothing, useResource } from '../../wire/resource.ts'
import { readEvents } from '../../wire/events.ts'

const PAGE = '200'

/** Steps of the conversation as people know it. */
const SAID: ReadonlySet<string> = new Set([
  'UserMessage',
  'Reasoning',
  'ToolCall',
  'ToolResult',
  'SubAgentCall',
  'SubAgentResult',
  'UserTaskReq',
  'UserTaskRes',
  'Output',
])

export function ConversationTab({ id, last }: { readonly id: string; readonly last: number }): View {
  const [pages, setPages] = useState(1)
  const conversation = useResource(`said ${id}`, () => readPages(id, pages), aboutNothing, `${last} ${pages}`)
  const read = conversation.value
  if (!read) return showUnread(conversation)
  const said = read.items.filter((item) => SAID.has(item.type))
  return (
    <>
      <ol class="said">
        {said.map((item) => (
          <Message key={item.ordinal} item={item} runs={read.runs} />
        ))}
      </ol>
      {read.nextCursor && (
        <p class="more">
          <button type="button" class="button" onClick={() => setPages(pages + 1)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}

async function readPages(id: string, pages: number): Promise<Conversation> {
  const query = { stepContent: 'slim', take: PAGE, values: 'ref' }
  let all = await callOperator('GET /v1/runs/:id/conversation', { id, query })
  for (let page = 1; page < pages && all.nextCursor; page++) {
    const next = await callOperator('GET /v1/runs/:id/conversation', {
      id,
      query: { ...query, cursor: all.nextCursor },
    })
    all = { ...next, items: [...all.items, ...next.items] }
  }
  return all
}

function Message({ item, runs }: { readonly item: TimelineItem; readonly runs: Conversation['runs'] }): View {
  const content: JsonObject = isJsonObject(item.content) ? item.content : {}
  const run = runs.find(({ id }) => id === item.runId)
  const isChosen = address.value.query.get('step') === String(item.ordinal)
  const [who, text, value] = describeMessage(item.type, content)
  const reference = referenceIn(value)
  const told = reference
    ? text
    : [text, value === undefined ? '' : textOfValue(value, item.type)].filter(Boolean).join(' ')
  return (
    <li
      class={`message ${item.type} ${(run?.depth ?? 0) > 0 ? 'below' : ''}`}
      ref={isChosen ? showChosen : null}
      aria-current={isChosen ? 'true' : undefined}
    >
      <p class="message-head">
        <b>{who === '' ? safeText(run?.agentName ?? 'agent') : who}</b>
        {item.startedAt && (
          <a class="dim" href={withQuery({ tab: undefined, step: String(item.ordinal) })}>
            <TimeOfDay at={item.startedAt} />
          </a>
        )}
      </p>
      {(told !== '' || reference) && (
        <div class="message-text">
          {told !== '' && <LongText text={told} />} {reference && <StoredValue reference={reference} />}
        </div>
      )}
    </li>
  )
}

const showChosen = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

/** Who says what, and about which value; an empty name stands for the agent. */
function describeMessage(type: string, content: JsonObject): readonly [who: string, text: string, value?: JsonValue] {
  const text = (name: string): string => (typeof content[name] === 'string' ? content[name] : '')
  switch (type) {
    case 'UserMessage':
      return ['Input', text('text')]
    case 'ToolCall':
      return ['calls', text('ref') || text('name'), content['arguments'] ?? {}]
    case 'ToolResult':
      return [`${text('name')} answers`, '', content['result'] ?? null]
    case 'SubAgentResult':
      return content['output'] ? ['answers', text('status'), content['output']] : ['answers', text('status')]
    case 'SubAgentCall':
      return ['asks', text('agent'), content['input'] ?? {}]
    case 'UserTaskReq':
      return ['waits', text('title')]
    case 'UserTaskRes':
      return [
        safeText(text('completed_by').replace(/^operator:/, 'operator ') || 'nobody'),
        [
          [
            text('outcome').replaceAll('_', ' '),
            ...(text('proof') === '' ? [] : [describeOrigin(text('channel'), text('proof'))]),
          ].join(' '),
          text('comment'),
        ]
          .filter((part) => part !== '')
          .join(': '),
      ]
    case 'Output':
      return ['Output', '', content['output'] ?? null]
    default:
      return ['', text('text')]
  }
}

const textOfValue = (value: JsonValue, type: string): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, type === 'Output' ? 2 : undefined)

export function EventsTab({ id, last }: { readonly id: string; readonly last: number }): View {
  const events = useResource(`events ${id}`, () => readEvents(id), aboutNothing, last)
  const read = events.value
  if (!read) return showUnread(events)
  if (read.length === 0) return <EmptyState icon="runs" title="No event yet." />
  return (
    <Table label="Events" heads={[['No.', 'num'], 'Time', 'Event', 'Data']}>
      {read.map(({ number, at, subject, data }) => (
        <tr key={number}>
          <td class="num">{number}</td>
          <td class="when">
            <TimeOfDay at={at} />
          </td>
          <td>
            <code>{safeText(subject)}</code>
          </td>
          <td class="preview">
            <code>{safeText(data)}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}

export function RawTab({ status, runs }: { readonly status: unknown; readonly runs: RunOutline['runs'] }): View {
  return (
    <div class="raw">
      <h2>Status</h2>
      <JsonView value={(status ?? null) as JsonValue} />
      <h2>Runs</h2>
      <JsonView value={toJson(runs)} />
    </div>
  )
}
