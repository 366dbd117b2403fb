/** Finds runs by a text among the newest, in memory: a search of everything that was ever said needs an index. */
import { giveWay, startWork } from '../../../base/event-loop.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import type { Run } from '../../../spec/run.ts'
import type { PageRange, RunFilter } from '../../../store/queries.ts'
import type { Store } from '../../../store/store.ts'

/** Runs that are looked through, newest first. */
const MAX_SEARCHED = 5000
const AT_ONCE = 200

export interface RunSearch {
  readonly find: string | undefined
  /** Without sub-agent runs. */
  readonly roots: boolean
}

/** `total` is what was found among those that were looked through. */
export async function findRuns(
  store: Pick<Store, 'runs'>,
  filter: RunFilter,
  { find, roots }: RunSearch,
  page: PageRange,
): Promise<{ readonly items: readonly Run[]; readonly total: number }> {
  const wanted = find?.toLowerCase()
  const found: Run[] = []
  for (let skip = 0; skip < MAX_SEARCHED; skip += AT_ONCE) {
    const tookLong = startWork()
    const { items } = await store.runs(filter, { skip, take: AT_ONCE })
    for (const run of items)
      if (!(roots && run.parentRunId !== null) && (wanted === undefined || mentions(run, wanted))) found.push(run)
    // Without a text the rest is only counted, which nobody needs.
    if (items.length < AT_ONCE || (wanted === undefined && found.length > page.skip + page.take)) break
    if (tookLong()) await giveWay()
  }
  return { items: found.slice(page.skip, page.skip + page.take), total: found.length }
}

const mentions = ({ id, agentName, versionLabel, status, input, output, error }: Run, wanted: string): boolean =>
  [id, `${agentName}@${versionLabel}`, status, error ?? '', JSON.stringify(input), JSON.stringify(output ?? null)].some(
    (text) => text.toLowerCase().includes(wanted),
  )

const PREVIEW = 120

/** The beginning of an input, in one line. */
export function previewOf(input: JsonValue): string {
  const text = JSON.stringify(input)
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text
}
