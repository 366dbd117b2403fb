/** Boots the page, and shows the screen of its address. */
import { createSignal } from './wire/signal.ts'
import { render } from 'preact'
import { announce } from './parts/announce.ts'
import type { View } from './parts/view.ts'
import { listenToKeys } from './parts/keys.ts'
import { copyExactTimes } from './parts/moments.tsx'
import { EmptyState, Loading } from './parts/states.tsx'
import { applyColours, Shell } from './views/shell.tsx'
import { decodeName, isShortId, ShortId } from './views/short-id.tsx'
import { signIn, SignInScreen, takeCode, takeLaterCodes, takePageKey } from './views/sign-in.tsx'
import { watchInbox } from './wire/inbox-count.ts'
import { openLive } from './wire/live.ts'
import { startClock } from './wire/moment.ts'
import { address, followLinks, goTo } from './wire/navigation.ts'
import { reportViolations } from './wire/reports.ts'
import { findRefusal, sendOperatorRequest, signedIn } from './wire/request.ts'
import { useSignal } from './wire/use-signal.ts'

export type ScreenComponent = (given: { readonly id?: string }) => View

/** Path, and the screen behind it, which may be in a file that is loaded when it is opened. */
export type ScreenTable = readonly (readonly [RegExp, () => ScreenComponent | Promise<ScreenComponent>])[]

const loaded = createSignal(new Map<RegExp, ScreenComponent>())

function Current({ screens }: { readonly screens: ScreenTable }): View {
  // Drawn again with the page, which follows the address.
  const { path } = address.value
  const screensLoaded = useSignal(loaded)
  for (const [pattern, load] of screens) {
    const match = pattern.exec(path)
    if (!match) continue
    const name = match.groups?.['id'] ?? ''
    if (isShortId(path, name)) return <ShortId key={path} path={path} id={name} />
    const Screen = screensLoaded.get(pattern) ?? take(pattern, load())
    const id = decodeName(name)
    if (id === undefined) break
    return Screen ? <Screen {...(id === '' ? {} : { id })} /> : <Loading />
  }
  return (
    <EmptyState icon="search" title="There is no such screen." isScreen>
      <p>
        <a href="/inbox">Go to the inbox</a>
      </p>
    </EmptyState>
  )
}

function take(pattern: RegExp, screen: ScreenComponent | Promise<ScreenComponent>): ScreenComponent | undefined {
  if (!(screen instanceof Promise)) return screen
  void screen.then((each) => (loaded.value = new Map([...loaded.value, [pattern, each]])))
  return undefined
}

const refusal = createSignal<string | undefined>(undefined)

function App({ screens }: { readonly screens: ScreenTable }): View | null {
  const isSignedIn = useSignal(signedIn)
  const problem = useSignal(refusal)
  const { path } = useSignal(address)
  if (isSignedIn === undefined) return null
  if (!isSignedIn) return <SignInScreen problem={problem} />
  return (
    <Shell path={path === '/' ? '/inbox' : path}>
      <Current screens={screens} />
    </Shell>
  )
}

export async function startPage(screens: ScreenTable): Promise<void> {
  applyColours()
  followLinks()
  listenToKeys()
  copyExactTimes()
  reportViolations()
  startClock()
  const code = takeCode()
  const before = takePageKey()
  takeLaterCodes()
  render(<App screens={screens} />, document.body)
  if (code !== undefined) refusal.value = (await findRefusal(() => signIn({ code })))?.message
  // Also after a refusal: somebody who is signed in already may open an old address. A server that does not answer is waited for.
  const { signedIn: isSignedIn } = (await sendOperatorRequest('GET', '/sign-in').catch(() => ({ signedIn: true }))) as {
    readonly signedIn: boolean
  }
  signedIn.value = isSignedIn
  if (before !== undefined) goTo(before, true)
  if (address.value.path === '/') goTo('/inbox', true)
  if (signedIn.value) {
    watchInbox()
    openLive()
  } else announce('Nobody is signed in.')
}
