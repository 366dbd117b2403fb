/** The console: boots the page, and lists its screens, one line each. */
import { signal } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import {
  applyColours,
  copyExactTimes,
  EmptyState,
  InboxScreen,
  listenToKeys,
  Loading,
  openLive,
  reportViolations,
  Shell,
  signIn,
  SignInScreen,
  takeCode,
  watchInbox,
} from './first.ts'
import { announce } from './parts/announce.ts'
import { html, type View } from './parts/html.ts'
import { startClock } from './wire/moment.ts'
import { address, followLinks, goTo } from './wire/navigation.ts'
import { callOperator, findRefusal, sendOperatorRequest, signedIn } from './wire/request.ts'

type Screen = (given: { readonly id?: string }) => View

/** A screen that the first file of the page does not have. */
const later = (name: keyof typeof import('./later.ts')) => async (): Promise<Screen> =>
  (await import('./later.ts'))[name]

/** Path, and the screen behind it. Those of other files are loaded when they are opened. */
const SCREENS: readonly (readonly [RegExp, () => Screen | Promise<Screen>])[] = [
  [/^\/(?:inbox)?$/, () => InboxScreen],
  [/^\/inbox\/(?<id>[^/]+)$/, () => InboxScreen],
  [/^\/inbox\/(?<id>[^/]+)\/similar$/, later('BulkScreen')],
  [/^\/runs$/, later('RunsScreen')],
  [/^\/runs\/(?<id>[^/]+)$/, later('RunScreen')],
  [/^\/agents$/, later('AgentsScreen')],
  [/^\/agents\/(?<id>[^/]+)$/, later('AgentScreen')],
  [/^\/agents\/(?<id>[^/]+)\/graph$/, async () => (await import('./graph-screen.ts')).GraphScreen],
  [/^\/policies$/, later('WhatIfScreen')],
  [/^\/try\/(?<id>[^/]+)$/, later('TryScreen')],
  [/^\/files$/, later('FilesScreen')],
  [/^\/costs$/, later('CostsScreen')],
  [/^\/admin$/, later('AdminScreen')],
]

const loaded = signal(new Map<RegExp, Screen>())

function Current(): View {
  const { path } = address.value
  for (const [pattern, load] of SCREENS) {
    const match = pattern.exec(path)
    if (!match) continue
    const name = match.groups?.['id'] ?? ''
    if (SHORT.test(name) && /^\/(?:runs|inbox)/.test(path))
      return html`<${ShortId} key=${path} path=${path} id=${name} />`
    const screen = loaded.value.get(pattern) ?? take(pattern, load())
    const id = decodeName(name)
    if (id === undefined) break
    return screen ? html`<${screen} ...${id === '' ? {} : { id }} />` : html`<${Loading} />`
  }
  return html`<${EmptyState} icon="search" title="There is no such screen." isScreen><p><a href="/inbox">Go to the inbox</a></p></${EmptyState}>`
}

/** An id as people and terminals write it: its end. */
const SHORT = /^[0-9a-f]{4,31}$/

/** Goes on to the run or task whose id ends so. */
function ShortId({ path, id }: { readonly path: string; readonly id: string }): View {
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
  return title === undefined ? html`<${Loading} />` : html`<${EmptyState} icon="search" title=${title} isScreen />`
}

/** Undefined where the address was cut within an escaped letter. */
function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function take(pattern: RegExp, screen: Screen | Promise<Screen>): Screen | undefined {
  if (!(screen instanceof Promise)) return screen
  void screen.then((each) => (loaded.value = new Map([...loaded.value, [pattern, each]])))
  return undefined
}

const refusal = signal<string | undefined>(undefined)

function App(): View | null {
  if (signedIn.value === undefined) return null
  if (!signedIn.value) return html`<${SignInScreen} problem=${refusal.value} />`
  return html`<${Shell} path=${address.value.path === '/' ? '/inbox' : address.value.path}><${Current} /></${Shell}>`
}

async function boot(): Promise<void> {
  applyColours()
  followLinks()
  listenToKeys()
  copyExactTimes()
  reportViolations()
  startClock()
  const code = takeCode()
  render(html`<${App} />`, document.body)
  if (code !== undefined) refusal.value = (await findRefusal(() => signIn({ code })))?.message
  // Also after a refusal: somebody who is signed in already may open an old address. A server that does not answer is waited for.
  const { signedIn: isSignedIn } = (await sendOperatorRequest('GET', '/sign-in').catch(() => ({ signedIn: true }))) as {
    readonly signedIn: boolean
  }
  signedIn.value = isSignedIn
  if (address.value.path === '/') goTo('/inbox', true)
  if (signedIn.value) {
    watchInbox()
    openLive()
  } else announce('Nobody is signed in.')
}

void boot()
