/** Filters of a list under a name. They are kept by the browser, so each person has their own, and an address shares one. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { address } from '../wire/navigation.ts'
import { html, type View } from './html.ts'
import { takeText } from './input.ts'
import { Icon } from './icon.ts'

interface SavedView {
  readonly name: string
  /** Of the address. */
  readonly query: string
}

const MOST = 20
const MAX_NAME = 60

/** What somebody else wrote there is no view. */
function readViews(place: string): readonly SavedView[] {
  try {
    const stored = JSON.parse(localStorage.getItem(place) ?? '[]') as JsonValue
    return (Array.isArray(stored) ? stored : []).flatMap((each) =>
      isJsonObject(each) && typeof each['name'] === 'string' && typeof each['query'] === 'string'
        ? [{ name: each['name'].slice(0, MAX_NAME), query: each['query'] }]
        : [],
    )
  } catch {
    return []
  }
}

export function SavedViews({ list }: { readonly list: string }): View {
  const place = `svc-views-${list}`
  const [views, setViews] = useState(() => readViews(place))
  const [name, setName] = useState('')
  const { path, query } = address.value
  const current = query.toString()
  const store = (next: readonly SavedView[]): void => {
    setViews(next)
    localStorage.setItem(place, JSON.stringify(next))
  }
  const save = (event: Event): void => {
    event.preventDefault()
    const named = { name: name.trim(), query: current }
    store([...views.filter((each) => each.name !== named.name), named].slice(-MOST))
    setName('')
  }
  return html`
    <details class="menu views">
      <summary class="button small"><${Icon} name="right" />Views</summary>
      <div class="menu-items">
        ${views.map(
          (each) =>
            html`<div class="view" key=${each.name}>
              <a href=${`${path}?${each.query}`} aria-current=${each.query === current ? 'true' : undefined}
                >${safeText(each.name)}</a
              >
              <button
                type="button"
                aria-label=${`Forget ${safeText(each.name)}`}
                onClick=${() => store(views.filter((other) => other !== each))}
              >
                <${Icon} name="cross" />
              </button>
            </div>`,
        )}
        <form onSubmit=${save}>
          <input
            aria-label="Name of this view"
            placeholder="Name of this view"
            maxlength=${MAX_NAME}
            value=${name}
            onInput=${takeText(setName)}
          />
          <button class="button small" disabled=${name.trim() === '' || current === ''}>Save</button>
        </form>
      </div>
    </details>
  `
}
