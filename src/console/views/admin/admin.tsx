/** Keys, triggers, browsers that are signed in, what operators did, and the log. */
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { KeyView, OperatorKeyView } from '../../../operations/keys.ts'
import type { TriggerView } from '../../../operations/triggers.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import type { View } from '../../parts/view.ts'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { exactTime, serverTime } from '../../wire/moment.ts'
import { address } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutWorkspace, useOperator } from '../../wire/resource.ts'
import { ActsTab } from './acts.tsx'
import { LogTab } from './logs.tsx'
import { ServerTab } from './server.tsx'

const TABS = [
  ['keys', 'Keys'],
  ['triggers', 'Triggers'],
  ['secrets', 'Secrets'],
  ['sessions', 'Browsers'],
  ['acts', 'Acts'],
  ['logs', 'Log'],
  ['server', 'Server'],
] as const

export function AdminScreen(): View {
  const tab = address.value.query.get('tab') ?? 'keys'
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Admin</h1>
        <a href="/passkeys">Passkeys</a>
      </header>
      <div class="filters">
        <Tabs label="What to administer" tabs={TABS} />
      </div>
      <AdminTab name={tab} />
    </section>
  )
}

function AdminTab({ name }: { readonly name: string }): View {
  switch (name) {
    case 'triggers':
      return <TriggersTab />
    case 'secrets':
      return <SecretsTab />
    case 'sessions':
      return <SessionsTab />
    case 'acts':
      return <ActsTab />
    case 'logs':
      return <LogTab />
    case 'server':
      return <ServerTab />
    default:
      return <KeysTab />
  }
}

function KeysTab(): View {
  const keys = useOperator('GET /keys', {}, aboutWorkspace)
  const items = keys.value?.items
  if (!items) return showUnread(keys)
  if (items.length === 0)
    return (
      <EmptyState icon="admin" title="No key was made yet.">
        <p class="dim">
          <code>svc keys create</code> makes one and shows its secret once.
        </p>
      </EmptyState>
    )
  return (
    <Table label="Keys" heads={['Key', 'For', 'State', 'Last used', '']}>
      {items.map((key) => (
        <tr key={key.keyId}>
          <td>
            <code>{safeText(key.prefix)}…</code>
            {key.name !== null && <span class="sub">{safeText(key.name)}</span>}
          </td>
          <td>{describeKey(key)}</td>
          <td>{stateOf(key)}</td>
          <td class="when" data-head="Last used">
            {key.lastUsedAt ? <Age at={key.lastUsedAt} /> : 'never'}
          </td>
          <td class="actions">
            {key.revokedAt === null && (
              <ConfirmButton
                label="Revoke"
                question="Revoke it now"
                act={() => callOperator('POST /keys/:id/revoke', { id: key.keyId, body: undefined })}
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}

const describeKey = (key: KeyView | OperatorKeyView): View =>
  'email' in key ? (
    <span>
      {safeText(key.email)}
      <span class="sub">{key.roles.length > 0 ? safeText(key.roles.join(', ')) : 'operator'}</span>
    </span>
  ) : (
    <span>
      {safeText(key.agent)}
      <span class="sub">
        {safeText(key.trigger)}
        {key.allowUploads ? ' · uploads' : ''}
      </span>
    </span>
  )

function stateOf({ revokedAt, expiresAt }: KeyView | OperatorKeyView): View {
  if (revokedAt !== null) return <Badge tone="bad" icon="cross" text="revoked" />
  if (expiresAt !== null && Date.parse(expiresAt) <= serverTime())
    return <Badge tone="bad" icon="clock" text="expired" />
  return <Badge tone="ok" icon="check" text="valid" />
}

function TriggersTab(): View {
  const triggers = useOperator('GET /triggers', {}, aboutWorkspace)
  const items = triggers.value?.items
  if (!items) return showUnread(triggers)
  if (items.length === 0)
    return (
      <EmptyState icon="clock" title="No trigger was made yet.">
        <p class="dim">
          <code>svc triggers create</code> makes one.
        </p>
      </EmptyState>
    )
  return (
    <Table label="Triggers" heads={['Trigger', 'Agent', 'When', 'State', '']}>
      {items.map((trigger) => (
        <tr key={trigger.triggerId}>
          <td>
            {safeText(trigger.name)}
            <span class="sub">{shortId(trigger.triggerId)}</span>
          </td>
          <td>{safeText(trigger.agent)}</td>
          <td class="wide">
            {describeTrigger(trigger)}
            {trigger.next.slice(0, 1).map((next) => (
              <span key={next} class="sub" title={trigger.next.map((at) => exactTime(Date.parse(at))).join('\n')}>
                next <Age at={next} />, {exactTime(Date.parse(next))}
              </span>
            ))}
            {trigger.refused && (
              <span class="sub">
                the tick of {exactTime(Date.parse(trigger.refused.at))} was refused: {safeText(trigger.refused.message)}
              </span>
            )}
            {trigger.inputProblem !== null && (
              <span class="sub">its next tick will be refused: {safeText(trigger.inputProblem)}</span>
            )}
          </td>
          <td>
            {(trigger.refused !== null || trigger.inputProblem !== null) && (
              <Badge tone="bad" icon="cross" text="refused" />
            )}
            {trigger.active ? (
              <Badge tone="ok" icon="check" text="active" />
            ) : (
              <Badge tone="quiet" icon="stop" text="paused" />
            )}
          </td>
          <td class="actions">
            <ConfirmButton
              key={String(trigger.active)}
              label={trigger.active ? 'Pause' : 'Activate'}
              question={trigger.active ? 'Pause it now' : 'Activate it now'}
              act={() =>
                callOperator('PATCH /triggers/:id', { id: trigger.triggerId, body: { active: !trigger.active } })
              }
            />
          </td>
        </tr>
      ))}
    </Table>
  )
}

const describeTrigger = ({
  type,
  cron,
  timeZone,
  ratePerMinute,
  exposeTimeline,
  allowApprovals,
}: TriggerView): string =>
  type === 'schedule'
    ? safeText(`${cron ?? ''} ${timeZone ?? 'UTC'}`)
    : [
        'API',
        ratePerMinute === null ? '' : `${ratePerMinute} a minute`,
        exposeTimeline ? 'shows its timeline' : '',
        allowApprovals ? 'its keys approve' : '',
      ]
        .filter((part) => part !== '')
        .join(' · ')

const SECRET_STATES = {
  set: ['ok', 'check', 'set'],
  empty: ['bad', 'warning', 'empty'],
  missing: ['bad', 'cross', 'missing'],
} as const

/** Whether the server has what its agents need. No value is ever sent. */
function SecretsTab(): View {
  const secrets = useOperator('GET /secrets', {}, aboutWorkspace)
  const items = secrets.value?.items
  if (!items) return showUnread(secrets)
  if (items.length === 0)
    return <EmptyState icon="admin" title="No deployed agent names a secret, and the server uses none." />
  return (
    <Table label="Secrets" heads={['Secret', 'Variable', 'State', 'Used by']}>
      {items.map(({ agent, name, env, state, usedBy }) => {
        const [tone, icon, word] = SECRET_STATES[state]
        return (
          <tr key={`${agent} ${name} ${env}`}>
            <td>
              {safeText(name)}
              <span class="sub">{safeText(agent || 'the server itself')}</span>
            </td>
            <td>
              <code>{safeText(env)}</code>
            </td>
            <td>
              <Badge tone={tone} icon={icon} text={word} />
            </td>
            <td class="dim">{safeText(usedBy.join(', ') || 'nothing')}</td>
          </tr>
        )
      })}
    </Table>
  )
}

function SessionsTab(): View {
  const sessions = useOperator('GET /console/sessions', {}, aboutWorkspace)
  const items = sessions.value?.items
  if (!items) return showUnread(sessions)
  return (
    <Table label="Browsers" heads={['Operator', 'Browser', 'Signed in', 'Last used', '']}>
      {items.map((session) => (
        <tr key={session.sessionId}>
          <td>
            {safeText(session.operator)}
            {session.isThis && <span class="sub">this browser</span>}
            {session.groups.length > 0 && <span class="sub">{safeText(session.groups.join(', '))}</span>}
          </td>
          <td class="preview">
            {session.purpose === 'command' && 'svc login · '}
            {safeText(session.browser)}
          </td>
          <td class="when" data-head="Signed in">
            <Age at={session.createdAt} />
          </td>
          <td class="when" data-head="Last used">
            <Age at={session.lastUsedAt} />
          </td>
          <td class="actions">
            {session.endedAt === null ? (
              <>
                <ConfirmButton
                  label="Sign out"
                  question="Sign it out now"
                  act={() => callOperator('POST /console/sessions/:id/end', { id: session.sessionId, body: undefined })}
                />
                <ConfirmButton
                  label="Everywhere"
                  question={`End all sessions of ${safeText(session.operator)}`}
                  act={() => callOperator('POST /console/sign-out', { body: { operator: session.operator } })}
                />
              </>
            ) : (
              <span class="dim">ended</span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
