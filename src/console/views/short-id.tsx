/** Ids in addresses: as a link has them, or as people and terminals write them. */
import { useEffect, useState } from 'preact/hooks'
import type { View } from '../parts/view.ts'
import { EmptyState, Loading } from '../parts/states.tsx'
import { goTo } from '../wire/navigation.ts'
import { callOperator, findRefusal } from '../wire/request.ts'

/** An id as people and terminals write it: its end. */
const SHORT = /^[0-9a-f]{4,31}$/

/** Goes on to the run or task whose id ends so. */
export function ShortId({ path, id }: { readonly path: string; readonly id: string }): View {
  const [title, setTitle] = useState<string | undefined>(undefined)
  useEffect(() => {
    const route = path.startsWith('/runs') ? 'GET /runs' : 'GET /tasks'
    void findRefusal(async () => {
      const { items } = await callOperator(route, { query: { ending: id, all: 'true' } })
      const [first] = items.map((each) => ('userTaskId' in each ? each.userTaskId : each.runId))
      if (first !== undefined && items.length === 1)
        goTo(location.href.slice(location.origin.length).replace(id, first), true)
      else setTitle(first === undefined ? 'Nothing has an id that ends so.' : 'Several ids end so. Write more of it.')
    }).then((refusal) => refusal && setTitle(refusal.message))
  }, [path])
  return title === undefined ? <Loading /> : <EmptyState icon="search" title={title} isScreen />
}

/** True for the end of an id, where runs or tasks are addressed. */
export const isShortId = (path: string, id: string): boolean => SHORT.test(id) && /^\/(?:runs|inbox)/.test(path)

/** Undefined where the address was cut within an escaped letter. */
export function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
