/** The keys, in one list. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { View } from '../parts/view.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['g o, g i, g r, g a, g p, g f, g c, g d', 'overview, inbox, runs, agents, policies, files, costs, admin'],
  ['/', 'search'],
  ['j, k', 'next and previous row; Enter opens it'],
  ['[, ]', 'previous and next task'],
  ['n', 'next task, once decided'],
  ['Esc', 'back to the list'],
  ['a', 'approve; held, where the call cannot be undone'],
  ['r', 'reject'],
  ['e', 'edit the arguments'],
  ['l', 'later'],
  ['w', 'why it was stopped'],
  ['x', 'review all similar tasks'],
  ['y', 'copy the address'],
  ['.', 'more actions'],
  ['?', 'this list'],
]

export function HelpDialog({ onClose }: { readonly onClose: () => void }): View {
  const dialog = useRef<HTMLDialogElement>(null)
  // A layout effect, so that no key reaches the screen between the press that asked for the list and the list.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => (before instanceof HTMLElement ? before.focus() : undefined)
  }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(', ').map((each, at) => (
                <>
                  {at > 0 && ' '}
                  <kbd key={each}>{each}</kbd>
                </>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="button">Close</button>
      </form>
    </dialog>
  )
}
