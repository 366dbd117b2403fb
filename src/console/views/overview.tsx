/** How a day goes, in five seconds: what waits, what failed, what was spent, and what was slow. The words are the server's. */
import type { OverviewCell } from '../../operations/insight.ts'
import { Facts } from '../parts/facts.tsx'
import type { View } from '../parts/view.ts'
import { Age } from '../parts/moments.tsx'
import { showUnread } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { useOperator } from '../wire/resource.ts'

export function OverviewScreen(): View {
  const overview = useOperator('GET /overview')
  const read = overview.value
  if (!read) return showUnread(overview)
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Overview</h1>
        <span class="dim">last 24 hours</span>
      </header>
      <Facts kind="section" facts={read.facts.map((fact) => [fact.name, showCell(fact)])} />
      {read.lists.map(({ title, heads, rows }) => (
        <>
          <h2 class="section">{title}</h2>
          <Table label={title} heads={heads.map((head) => [head.text, head.align ? 'num' : ''])}>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column} class={heads[column]?.align ? 'num' : ''}>
                    {showCell(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        </>
      ))}
    </section>
  )
}

const showCell = ({ text, href, at, hours }: OverviewCell): View => (
  <>
    {href === undefined ? text : <a href={href}>{text}</a>} {at !== undefined && <Age at={at} />}
    {hours && <HourBars hours={hours} />}
  </>
)

/** Runs of each hour as bars; what failed of them stands in front. */
function HourBars({ hours }: { readonly hours: NonNullable<OverviewCell['hours']> }): View {
  const most = Math.max(1, ...hours.map(({ runs }) => runs))
  const bars = (name: 'runs' | 'failed'): string =>
    hours.map((hour, at) => `M${at * 4 + 2} 20v${(-20 * hour[name]) / most}`).join('')
  return (
    <svg width="96" height="20" aria-hidden="true" stroke-width="3">
      <path stroke="var(--accent)" d={bars('runs')} />
      <path stroke="var(--bad)" d={bars('failed')} />
    </svg>
  )
}
