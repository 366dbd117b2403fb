/** Converts the query of a list of runs to the store's filter. Source: docs/design/command-line.md#driving */
import { shortenText } from '../../../base/text/cut-text.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import { boundedKey } from '../../../policy/condition/effect-key.ts'
import type { OperatorRoutes } from '../../../operations/operations.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { PageRange, RunFilter } from '../../../store/queries.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { toEnding } from '../../../base/ids.ts'

type RunSearch = OperatorRoutes['GET /runs']['query']

/** The ending of an id as screens show it, or a longer one. Fewer digits may be a number in an input. */
const ID_ENDING = /^(?:[0-9a-f]-*){6,32}$/i

const MOST_NAMED = 20

/** Matching runs; if the text is the ending of an id, the runs with that id. */
export async function searchRuns(
  { store, workspace }: ServerServices,
  filter: RunFilter,
  search: RunSearch,
  page: PageRange,
): Promise<{ readonly items: readonly Run[]; readonly total: number }> {
  const text = search.search?.trim()
  if (text !== undefined && ID_ENDING.test(text)) {
    const items = await store.runsEndingWith(workspace.id, toEnding(text), MOST_NAMED)
    if (items.length > 0) return { items, total: items.length }
  }
  return await store.runs({ ...filter, ...toRunFilter(search) }, page)
}

function toRunFilter({
  roots,
  search,
  tool,
  effect,
  version,
  trigger,
  person,
  approver,
  label,
}: RunSearch): Omit<RunFilter, 'workspaceId'> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(label ?? '') ?? []
  return {
    ...(roots && { roots }),
    ...(search !== undefined && { text: search }),
    ...(tool !== undefined && { tool }),
    ...(effect !== undefined && { effect: boundedKey(effect).key }),
    ...(version !== undefined && { versionLabel: version }),
    ...(trigger !== undefined && { trigger }),
    ...(person !== undefined && { person: toPrincipalId(person) }),
    ...(approver !== undefined && { approver: toPrincipalId(approver) }),
    ...(name !== undefined && value !== undefined && { metadata: { [name]: value } }),
  }
}

const toPrincipalId = (name: string): string => (name.includes(':') ? name : `operator:${name}`)

const PREVIEW = 120

/** The beginning of an input, in one line. */
export const previewOf = (input: JsonValue): string => shortenText(JSON.stringify(input), PREVIEW)
