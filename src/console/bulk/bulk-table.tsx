/** The review list: a task in a row, an argument in a column. */
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { ShownTask } from '../../spec/task.ts'
import { reviewTogether } from '../../view/task/bulk-review.ts'
import { Badge } from '../parts/badge.tsx'
import type { View } from '../parts/view.ts'
import type { BulkResult } from './bulk-decision.ts'

export function BulkTable({
  tasks,
  picked,
  results,
  isSending,
  onPick,
}: {
  readonly tasks: readonly ShownTask[]
  readonly picked: ReadonlySet<string>
  readonly results: ReadonlyMap<string, BulkResult>
  readonly isSending: boolean
  readonly onPick: (ids: ReadonlySet<string>) => void
}): View {
  const { columns, rows } = reviewTogether(tasks)
  const open = tasks.filter(({ id }) => results.get(id)?.isFinal !== true).map(({ id }) => id)
  const toggle = (id: string): void => {
    const next = new Set(picked)
    if (!next.delete(id)) next.add(id)
    onPick(next)
  }
  const isAll = open.length > 0 && open.every((id) => picked.has(id))
  return (
    <div class="table-wrap" role="region" aria-label="Tasks" tabindex={0}>
      <table class="table bulk">
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="All"
                checked={isAll}
                disabled={isSending || open.length === 0}
                onChange={() => onPick(new Set(isAll ? [] : open))}
              />
            </th>
            <th scope="col">Task</th>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">For</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map(({ id, agent, people }, at) => {
            const result = results.get(id)
            return (
              <tr key={id} class={result?.isFinal ? 'settled' : ''}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Task ${shortId(id)}`}
                    checked={picked.has(id)}
                    disabled={isSending || result?.isFinal === true}
                    onChange={() => toggle(id)}
                  />
                </td>
                <td class="id">
                  <a href={`/inbox/${id}`}>{shortId(id)}</a>
                </td>
                {rows[at]?.map((text, column) => (
                  <td key={columns[column]} class="value-cell" data-name={columns[column]}>
                    <code>{text}</code>
                  </td>
                ))}
                <td>
                  {safeText(people?.startedBy ?? '')}
                  <span class="sub">{safeText(agent)}</span>
                </td>
                <td>{result && <Badge tone={result.tone} text={safeText(result.text)} />}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
