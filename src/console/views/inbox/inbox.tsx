/** What waits for people: the list, and the card of the task that is chosen. */
import { useEffect } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortDuration } from '../../../base/text/short-text.ts'
import type { InboxItem } from '../../../operations/tasks.ts'
import { describeDecided, describeLooking, describeMissing, describeNotYours } from '../../../view/task/task-people.ts'
import { describeSubject, nameOfKind } from '../../../view/task/task-subject.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import { EffectBadge } from '../../parts/badge.tsx'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, ErrorNote, Loading } from '../../parts/states.tsx'
import { now } from '../../wire/moment.ts'
import { address, goTo, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutAnySession, useResource } from '../../wire/resource.ts'
import { inboxState, mineOf } from '../../wire/inbox-count.ts'
import { TaskScreen } from './task.tsx'
import { useSignal } from '../../wire/use-signal.ts'

const TABS = [
  ['mine', 'Mine'],
  ['all', 'All'],
  ['decided', 'Decided'],
] as const

const EMPTY_TITLES: Readonly<Record<string, string>> = {
  decided: 'Nothing was decided yet.',
  mine: 'Nothing waits for you.',
}

export function InboxScreen({ id }: { readonly id?: string }): View {
  const tab = address.value.query.get('tab') ?? 'mine'
  const decided = useResource(
    tab === 'decided' ? 'decided' : '',
    async () => (tab === 'decided' ? (await callOperator('GET /tasks', { query: { all: 'true' } })).items : []),
    aboutAnySession,
  )
  const waiting = useSignal(inboxState)
  const items = itemsOf(tab, waiting.value?.items, decided.value)
  const chosen = id ?? undefined
  const at = items?.findIndex(({ userTaskId }) => userTaskId === chosen) ?? -1
  const open = (index: number): void => {
    const item = items?.[Math.max(0, Math.min(index, items.length - 1))]
    if (item) goTo(hrefOf(item, tab))
  }
  useKeys({
    j: () => open(at + 1),
    k: () => open(at - 1),
    n: () => open(at + 1),
    ']': () => open(at + 1),
    '[': () => open(at - 1),
    Escape: chosen === undefined ? undefined : () => goTo(tab === 'mine' ? '/inbox' : `/inbox?tab=${tab}`),
  })
  useEffect(() => document.getElementById(`item-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen])
  return (
    <div class={`split ${chosen === undefined ? '' : 'has-detail'}`}>
      <section class="list" aria-label="Tasks">
        <header class="list-head">
          <h1>Inbox</h1>
          <nav class="tabs" aria-label="Which tasks">
            {TABS.map(([name, label]) => (
              <a key={name} href={withTab(name)} aria-current={tab === name ? 'page' : undefined}>
                {label}
                {name !== 'decided' && <span class="count">{countOf(name)}</span>}
              </a>
            ))}
          </nav>
        </header>
        <ErrorNote error={waiting.error} />
        {items === undefined && <Loading />}
        {items?.length === 0 && <EmptyState icon="check" title={EMPTY_TITLES[tab] ?? 'Nothing waits for anybody.'} />}
        {items !== undefined && items.length > 0 && (
          <ul class="items">
            {items.map((item) => (
              <TaskItem key={item.userTaskId} item={item} tab={tab} isChosen={item.userTaskId === chosen} />
            ))}
          </ul>
        )}
      </section>
      <section class="detail" aria-label="Task">
        {chosen === undefined ? (
          <EmptyState icon="inbox" title={items?.length ? 'Choose a task.' : ''}>
            {items?.length ? (
              <p class="dim">
                <kbd>j</kbd> <kbd>k</kbd> move through the list
              </p>
            ) : null}
          </EmptyState>
        ) : (
          <TaskScreen
            key={chosen}
            id={chosen}
            onLater={() => open(at + 1)}
            onNext={items && at >= 0 && at < items.length - 1 ? () => open(at + 1) : undefined}
          />
        )}
      </section>
    </div>
  )
}

const withTab = (name: string): string => {
  const { path } = address.value
  return path.startsWith('/inbox') ? withQuery({ tab: name === 'mine' ? undefined : name }) : `/inbox?tab=${name}`
}

const countOf = (name: string): number => {
  const items = inboxState.value.value?.items ?? []
  return name === 'mine' ? mineOf(items).length : items.length
}

function itemsOf(
  tab: string,
  waiting: readonly InboxItem[] | undefined,
  decided: readonly InboxItem[] | undefined,
): readonly InboxItem[] | undefined {
  if (tab === 'all') return waiting
  if (tab === 'mine') return waiting && mineOf(waiting)
  return decided
    ?.filter(({ status }) => status !== 'pending')
    .toSorted(
      (a, b) => Date.parse(b.people?.decided?.at ?? b.createdAt) - Date.parse(a.people?.decided?.at ?? a.createdAt),
    )
}

const hrefOf = ({ userTaskId }: InboxItem, tab: string): string =>
  tab === 'mine' ? `/inbox/${userTaskId}` : `/inbox/${userTaskId}?tab=${tab}`

function TaskItem({
  item,
  tab,
  isChosen,
}: {
  readonly item: InboxItem
  readonly tab: string
  readonly isChosen: boolean
}): View {
  const task = readInboxItem(item)
  const missing = describeMissing(task)
  const decided = item.people?.decided
  const notYours = decided || !item.people ? undefined : describeNotYours(item.people)
  const looking = decided ? undefined : describeLooking(item.people)
  return (
    <li>
      <a
        id={`item-${item.userTaskId}`}
        class="item"
        href={hrefOf(item, tab)}
        aria-current={isChosen ? 'true' : undefined}
      >
        <span class="item-line">
          <span class="item-title">{describeSubject(task)}</span>
          <span class="item-age">
            <Age at={decided?.at ?? item.createdAt} />
          </span>
        </span>
        <span class="item-line">
          <span class="item-agent">
            {safeText(item.agent)}
            {item.people && ` for ${safeText(item.people.startedBy)}`}
          </span>
        </span>
        {task.tool && (
          <span class="item-line">
            <span class="item-text">{safeText(item.why)}</span>
          </span>
        )}
        <span class="item-line item-foot">
          <span>{nameOfKind(item.kind)}</span>
          {item.task?.tool && <EffectBadge effect={item.task.tool.side_effect_class ?? ''} />}
          {decided && (
            <span class="item-note">
              {safeText(describeDecided(decided))}, after{' '}
              {shortDuration(Date.parse(decided.at) - Date.parse(item.createdAt))}
            </span>
          )}
          {notYours !== undefined && (
            <span class="item-note">
              <Icon name="person" />
              {safeText(notYours)}
            </span>
          )}
          {looking !== undefined && (
            <span class="item-note looking">
              <Icon name="search" />
              {safeText(looking)}
            </span>
          )}
          {!decided && missing !== undefined && item.approvals.have > 0 && (
            <span class="item-note">
              {item.approvals.have} of {item.approvals.need}
            </span>
          )}
        </span>
        {!decided && item.expiresAt !== null && (
          <DeadlineBar from={Date.parse(item.createdAt)} until={Date.parse(item.expiresAt)} />
        )}
      </a>
    </li>
  )
}

function DeadlineBar({ from, until }: { readonly from: number; readonly until: number }): View {
  const left = Math.max(0, Math.min(1, (until - useSignal(now)) / Math.max(1, until - from)))
  return (
    <span class={`deadline-bar ${left < 0.2 ? 'urgent' : ''}`} aria-hidden="true">
      <span style={{ width: `${left * 100}%` }}></span>
    </span>
  )
}
