/** The address of the screen. Every screen has one, so that it can be sent to a colleague. */
import { createSignal } from './signal.ts'

export interface ScreenAddress {
  readonly path: string
  readonly query: URLSearchParams
}

const readAddress = (): ScreenAddress => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
})

export const address = createSignal<ScreenAddress>(readAddress())

/** @param replaces keeps the way back as it was, for a change within a screen */
export function goTo(href: string, replaces = false): void {
  if (href === location.pathname + location.search) return
  history[replaces ? 'replaceState' : 'pushState'](null, '', href)
  address.value = readAddress()
  if (!replaces) scrollTo(0, 0)
}

/** The address with other parameters; undefined removes one. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const { path, query } = address.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  return next.size > 0 ? `${path}?${next}` : path
}

/** Follows links within the page without loading it again. */
export function followLinks(): void {
  addEventListener('popstate', () => (address.value = readAddress()))
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null
    if (!link || link.hasAttribute('download') || link.hasAttribute('target')) return
    // A link of a drawing has no parts of its address.
    const { origin, pathname, search } = new URL(link.getAttribute('href') ?? '', location.href)
    if (origin !== location.origin) return
    event.preventDefault()
    goTo(pathname + search)
  })
}
