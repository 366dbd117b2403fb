/** Shown while nobody is signed in in this browser. */
import { useState } from 'preact/hooks'
import type { View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { findRefusal, keepPageKey, sendOperatorRequest, signedIn } from '../wire/request.ts'

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
