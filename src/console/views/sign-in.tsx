/** Shown while nobody is signed in in this browser. */
import { useEffect, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { findRefusal, keepPageKey, sendOperatorRequest, signedIn, type SignInState } from '../wire/request.ts'

/** Where somebody was who went to the provider to sign in. */
const RETURN = 'svc-return'

/** The page's half of a session that a provider has just opened, out of the address. @returns where the person was before */
export function takePageKey(): string | undefined {
  const pageKey = /^#page-key=([0-9A-Za-z]+)$/.exec(location.hash)?.[1]
  if (pageKey === undefined) return undefined
  keepPageKey(pageKey)
  history.replaceState(null, '', location.pathname + location.search)
  const before = sessionStorage.getItem(RETURN) ?? '/'
  sessionStorage.removeItem(RETURN)
  return before
}

const readCode = (): string | undefined => /^#code=([0-9A-Za-z]+)$/.exec(location.hash)?.[1]

/** The one-time code of the address, which is removed from it at once: not even the history keeps it. */
export function takeCode(): string | undefined {
  const code = readCode()
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** A code for a page that is open already changes its address without loading it. */
export function takeLaterCodes(): void {
  addEventListener('hashchange', () => {
    if (readCode() !== undefined) location.reload()
  })
}

/** @throws RequestError */
export async function signIn(proof: { readonly code: string } | { readonly key: string }): Promise<void> {
  const { pageKey } = (await sendOperatorRequest('POST', '/sign-in', proof)) as { readonly pageKey: string }
  keepPageKey(pageKey)
  signedIn.value = true
}

export function SignInScreen({ problem }: { readonly problem: string | undefined }): View {
  const [key, setKey] = useState('')
  const [refusal, setRefusal] = useState(problem)
  const [provider, setProvider] = useState<string | null>(null)
  const [isLeaving, setLeaving] = useState(false)
  useEffect(() => {
    void sendOperatorRequest('GET', '/sign-in').then(
      (state) => setProvider((state as SignInState).provider),
      () => undefined,
    )
  }, [])
  const goToProvider = async (): Promise<void> => {
    setLeaving(true)
    const refused = await findRefusal(async () => {
      const { address } = (await sendOperatorRequest('POST', '/sign-in/provider', {})) as { readonly address: string }
      sessionStorage.setItem(RETURN, location.pathname + location.search)
      location.assign(address)
    })
    setLeaving(false)
    if (refused) setRefusal(refused.message)
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const refused = await findRefusal(() => signIn({ key: key.trim() }))
    if (!refused) return location.reload()
    setKey('')
    setRefusal(refused.message)
  }
  return (
    <main class="sign-in">
      <h1>svc</h1>
      {refusal !== undefined && (
        <p class="note bad" role="alert">
          <span>{refusal}</span>
        </p>
      )}
      {provider !== null && (
        <section>
          <button type="button" class="button primary" disabled={isLeaving} onClick={() => void goToProvider()}>
            Sign in with {safeText(provider)}
          </button>
        </section>
      )}
      <section>
        <h2>On the server's machine</h2>
        <p>
          Run <code>svc console</code> and open the address it prints. In <code>svc dev</code>, press <kbd>o</kbd>.
        </p>
      </section>
      <form onSubmit={(event: Event) => void submit(event)}>
        <h2>With your operator credential</h2>
        <label class="field">
          <span>Credential</span>
          <input type="password" autocomplete="off" required value={key} onInput={takeText(setKey)} />
        </label>
        <p class="dim">
          It is sent once and not kept in this browser. <code>svc keys create --operator</code> makes one; an API key
          opens nothing here.
        </p>
        <button class="button primary" disabled={key.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  )
}
