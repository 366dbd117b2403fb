/** Passkeys of people: who has which, a form for another one, and the end of one's own. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { addPasskey, removePasskey } from './passkey-ceremony.ts'
import { announce } from '../parts/announce.ts'
import { Badge } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { takeText } from '../parts/input.ts'
import { Age } from '../parts/moments.tsx'
import { EmptyState, showUnread } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import type { View } from '../parts/view.ts'
import { findRefusal } from '../wire/request.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'

export function PasskeysScreen(): View {
  const passkeys = useOperator('GET /passkeys', {}, aboutWorkspace)
  const { act, isAsking, problem } = useCeremony(() => void passkeys.reload())
  const items = passkeys.value?.items
  if (!items) return showUnread(passkeys)
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Passkeys</h1>
      </header>
      <AddressNote />
      <AddForm isAsking={isAsking} onAdd={(name) => act(() => addPasskey(name))} />
      {problem !== undefined && (
        <p class="note bad" role="alert">
          <Icon name="warning" />
          <span>{safeText(problem)}</span>
        </p>
      )}
      {items.length === 0 ? (
        <EmptyState icon="admin" title="Nobody has a passkey yet.">
          <p class="dim">A policy that says svc/approval_proof: passkey asks for one.</p>
        </EmptyState>
      ) : (
        <Table label="Passkeys" heads={['Passkey', 'Person', 'Kind', 'Added', 'Last used', '']}>
          {items.map((each) => (
            <tr key={each.passkeyId}>
              <td>{safeText(each.name)}</td>
              <td>
                {safeText(each.operator)}
                {each.isYours && <span class="sub">you</span>}
              </td>
              <td>
                {each.isDeviceBound ? (
                  <Badge tone="ok" icon="check" text="bound to its device" />
                ) : (
                  <Badge tone="quiet" icon="dot" text={each.isBackedUp ? 'copied to an account' : 'may be copied'} />
                )}
              </td>
              <td class="when" data-head="Added">
                <Age at={each.createdAt} />
              </td>
              <td class="when" data-head="Last used">
                {each.lastUsedAt === null ? 'never' : <Age at={each.lastUsedAt} />}
              </td>
              <td class="actions">
                {each.isYours && (
                  // The device asks once more.
                  <button
                    type="button"
                    class="button small"
                    disabled={isAsking}
                    onClick={() => act(() => removePasskey(each.passkeyId))}
                  >
                    Remove
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

/** Browsers keep passkeys for names, never for numbers. */
function AddressNote(): View | null {
  const { protocol, hostname, port } = location
  if (!/^(?:127\.|\[)/.test(hostname)) return null
  const address = `${protocol}//localhost:${port}/passkeys`
  return (
    <p class="note">
      <Icon name="warning" />
      <span>
        Passkeys do not work at an IP address: open <a href={address}>{address}</a> and sign in there.
      </span>
    </p>
  )
}

/** A ceremony at a time, and why the last one came to nothing. */
function useCeremony(onDone: () => void) {
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const act = (ceremony: () => Promise<void>): void => {
    setAsking(true)
    setProblem(undefined)
    void findRefusal(ceremony).then((refused) => {
      setAsking(false)
      setProblem(refused?.message)
      announce(refused?.message ?? 'Done.')
      if (!refused) onDone()
    })
  }
  return { act, isAsking, problem }
}

function AddForm({ isAsking, onAdd }: { readonly isAsking: boolean; readonly onAdd: (name: string) => void }): View {
  const [name, setName] = useState('')
  return (
    <form
      class="decide"
      onSubmit={(event: Event) => {
        event.preventDefault()
        onAdd(name.trim())
      }}
    >
      <label class="field">
        <span>Name of the device</span>
        <input value={name} maxLength={100} autocomplete="off" onInput={takeText(setName)} />
      </label>
      <div class="buttons">
        <button type="submit" class="button primary" disabled={isAsking || name.trim() === ''}>
          Add a passkey
        </button>
      </div>
    </form>
  )
}
