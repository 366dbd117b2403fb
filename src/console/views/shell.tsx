/** What stands around every screen: the sections, who is signed in, and whether the server answers. */
import { createSignal } from '../wire/signal.ts'
import { useEffect, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import { announce, announcement } from '../parts/announce.ts'
import type { Child, View } from '../parts/view.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { useKeys } from '../parts/keys.ts'
import { inboxState, mineOf } from '../wire/inbox-count.ts'
import { connection } from '../wire/live.ts'
import { goTo } from '../wire/navigation.ts'
import { keepPageKey, sendOperatorRequest, signedIn } from '../wire/request.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'
import { HelpDialog } from './help.tsx'
import { useSignal } from '../wire/use-signal.ts'

interface Section {
  readonly href: string
  readonly name: string
  readonly icon: IconName
  readonly key: string
}

export const SECTIONS: readonly Section[] = [
  { href: '/overview', name: 'Overview', icon: 'clock', key: 'o' },
  { href: '/inbox', name: 'Inbox', icon: 'inbox', key: 'i' },
  { href: '/runs', name: 'Runs', icon: 'runs', key: 'r' },
  { href: '/agents', name: 'Agents', icon: 'agents', key: 'a' },
  { href: '/policies', name: 'Policies', icon: 'policies', key: 'p' },
  { href: '/files', name: 'Files', icon: 'files', key: 'f' },
  { href: '/costs', name: 'Costs', icon: 'costs', key: 'c' },
  { href: '/admin', name: 'Admin', icon: 'admin', key: 'd' },
]

type Status = OperatorRoutes['GET /status']['answer']

const isHelpOpen = createSignal(false)

export function Shell({ path, children }: { readonly path: string; readonly children: Child }): View {
  const status = useOperator('GET /status', {}, aboutWorkspace)
  const mine = mineOf(useSignal(inboxState).value?.items ?? []).length
  const isLost = useSignal(connection) === 'lost'
  const told = useSignal(announcement)
  const isHelped = useSignal(isHelpOpen)
  useKeys(
    {
      ...Object.fromEntries(SECTIONS.map(({ key, href }) => [`g ${key}`, () => goTo(href)])),
      '?': () => (isHelpOpen.value = true),
      y: () => void copyAddress(),
      '.': () => {
        const menu = document.querySelector<HTMLElement>('main .menu > summary')
        menu?.focus()
        if (menu?.parentElement?.hasAttribute('open') === false) menu.click()
      },
      '/': () => {
        const search = document.querySelector<HTMLInputElement>('input[type=search]')
        if (search) search.focus()
        else goTo('/runs?search=')
      },
      j: () => focusRow(1),
      k: () => focusRow(-1),
      Escape: goBack,
    },
    true,
  )
  useEffect(() => void (document.title = mine > 0 ? `(${mine}) svc` : 'svc'), [mine])
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <div class="app">
        <nav class="rail" aria-label="Sections">
          <a class="brand" href="/inbox" aria-label="svc">
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <rect width="16" height="16" rx="4" />
              <path d="M4 8.5l2.6 2.5L12 5.5" />
            </svg>
            <span class="rail-name">svc</span>
          </a>
          {SECTIONS.map(({ href, name, icon }) => (
            <a key={href} class="rail-link" href={href} aria-current={path.startsWith(href) ? 'page' : undefined}>
              <Icon name={icon} />
              <span class="rail-name">{name}</span>
              {name === 'Inbox' && mine > 0 && (
                <span class="rail-count">
                  {mine}
                  <span class="unseen"> {mine === 1 ? 'task waits' : 'tasks wait'} for you</span>
                </span>
              )}
            </a>
          ))}
          <div class="rail-foot">
            <Who status={status.value} />
          </div>
        </nav>
        <div class="page">
          {isLost && (
            <p class="banner" role="status">
              <Icon name="warning" />
              The server does not answer. What you see may be old.
            </p>
          )}
          {status.value?.signIn && <ChangedGroups {...status.value.signIn} />}
          <main id="main" tabindex={-1}>
            {children}
          </main>
        </div>
      </div>
      <div class="unseen" role="status">
        {told}
      </div>
      {isHelped && <HelpDialog onClose={() => (isHelpOpen.value = false)} />}
    </>
  )
}

/** Said once, on the page that a sign-in opened. */
function ChangedGroups({ may, groups, earlierGroups, endsAt }: NonNullable<Status['signIn']>): View | null {
  const [isRead, setRead] = useState(localStorage.getItem(READ_CHANGE) === endsAt)
  if (earlierGroups === null || isRead) return null
  return (
    <p class="banner" role="status">
      <span>
        Your groups changed since your last sign-in, from {safeText(earlierGroups.join(', '))} to{' '}
        {safeText(groups.join(', '))}: now you may {may}.
      </span>
      <button
        type="button"
        class="button small"
        onClick={() => {
          localStorage.setItem(READ_CHANGE, endsAt ?? '')
          setRead(true)
        }}
      >
        Got it
      </button>
    </p>
  )
}

const READ_CHANGE = 'svc-read-change'

/** The next row of a table; its link is opened with Enter. */
function focusRow(by: number): void {
  const rows = [...document.querySelectorAll('main tbody tr')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))
  rows[next]?.querySelector<HTMLElement>('a, button, input')?.focus()
}

/** Goes to the list that the screen belongs to. */
const goBack = (): void => document.querySelector<HTMLElement>('main .back-link')?.click()

async function copyAddress(): Promise<void> {
  await navigator.clipboard.writeText(location.href)
  announce('Copied the address.')
}

function skipToMain(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Who({ status }: { readonly status: Status | undefined }): View {
  const health = useSignal(connection)
  const signOut = async (): Promise<void> => {
    const { address } = (await sendOperatorRequest('POST', '/sign-out', {})) as { readonly address?: string }
    keepPageKey(undefined)
    signedIn.value = false
    // The provider's own session is over once its page says so.
    if (address !== undefined) location.assign(address)
  }
  return (
    <details class="who">
      <summary>
        <span class={`health ${health}`} title={HEALTH[health]}></span>
        <span class="rail-name who-name">{safeText(status?.operator ?? '')}</span>
      </summary>
      <div class="who-more">
        <p>
          <b>{safeText(status?.operator ?? '')}</b>
        </p>
        <p class="dim">{status?.roles.length ? safeText(status.roles.join(', ')) : 'no roles'}</p>
        {status?.signIn && (
          <p class="dim">
            May {status.signIn.may}, by the groups that {safeText(status.signIn.provider)} named when you signed in:{' '}
            {safeText(status.signIn.groups.join(', '))}. Others count from your next sign-in on.
          </p>
        )}
        <p class="dim">
          Workspace {safeText(status?.workspace ?? '')} · svc {safeText(status?.version ?? '')} · {HEALTH[health]}
        </p>
        <div class="buttons">
          <button type="button" class="button small" onClick={switchColours}>
            <Icon name="moon" />
            Colours
          </button>
          <button type="button" class="button small" onClick={() => void signOut()}>
            <Icon name="out" />
            Sign out
          </button>
        </div>
      </div>
    </details>
  )
}

const HEALTH = { opening: 'connecting', live: 'live', lost: 'no answer' } as const

const COLOURS = 'svc-colours'

/** Follows the system until somebody chooses. */
export function applyColours(): void {
  const chosen = localStorage.getItem(COLOURS)
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['colours'] = chosen
}

function switchColours(): void {
  const isDark =
    document.documentElement.dataset['colours'] === 'dark' ||
    (document.documentElement.dataset['colours'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches)
  localStorage.setItem(COLOURS, isDark ? 'light' : 'dark')
  applyColours()
}
