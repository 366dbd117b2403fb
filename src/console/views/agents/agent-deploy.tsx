/** Deploying a version: what it may do more is read first, and why it is done is asked. */
import { useState } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import type { VersionView } from '../../../operations/versions.ts'
import { announce } from '../../parts/announce.ts'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { takeText } from '../../parts/input.ts'
import { Age } from '../../parts/moments.tsx'
import { Table } from '../../parts/table.tsx'
import { ErrorNote, showUnread } from '../../parts/states.tsx'
import { ChangeList } from '../../policy/change-list.tsx'
import { ActionForm } from '../../steer/action-form.tsx'
import { withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutNothing, aboutWorkspace, useOperator, useResource } from '../../wire/resource.ts'

/** Shows what would change before it is deployed: a wider authority is the first thing that is read. */
export function DeployForm({
  name,
  from,
  to,
  onDone,
}: {
  readonly name: string
  readonly from: VersionView | undefined
  readonly to: VersionView
  readonly onDone: () => void
}): View {
  const [isUnderstood, setUnderstood] = useState(false)
  const [message, setMessage] = useState('')
  const difference = useResource(`deploy ${name} ${from?.versionLabel} ${to.versionLabel}`, async () =>
    from
      ? await callOperator('GET /difference', { query: { agent: name, from: from.versionLabel, to: to.versionLabel } })
      : undefined,
  )
  const widens = difference.value?.widens === true
  const isRead = from === undefined || difference.value !== undefined || difference.error !== undefined
  const deploy = async (): Promise<void> => {
    await callOperator('POST /deploy', {
      body: { agent: name, version: to.versionLabel, message: message.trim(), ...(to.yanked && { allowYanked: true }) },
    })
    const { items } = await callOperator('GET /looser-versions', { query: { agent: name } })
    const laxer = items.filter(({ held }) => !held).map(({ version }) => `${name}@${version}`)
    announce(`${to.versionLabel} is deployed.${laxer.length === 0 ? '' : describeLaxer(laxer)}`)
  }
  return (
    <ActionForm
      label={`Deploy ${safeText(to.versionLabel)}`}
      title={
        <>
          <b>
            Deploy {safeText(name)}@{safeText(to.versionLabel)}?
          </b>{' '}
          New runs take it; runs that have begun keep the version they have.
        </>
      }
      isWide
      isBlocked={!isRead || (widens && !isUnderstood) || message.trim() === ''}
      act={deploy}
      onDone={onDone}
    >
      {to.yanked && (
        <p class="note bad">
          <Icon name="warning" />
          <span>This version is yanked{to.yankReason ? `: ${safeText(to.yankReason)}` : ''}.</span>
        </p>
      )}
      <ErrorNote error={difference.error} />
      {difference.value && <ChangeList changes={difference.value.changes} />}
      {widens && (
        <label class="switch">
          <input type="checkbox" checked={isUnderstood} onChange={() => setUnderstood(!isUnderstood)} />
          <span>It may do more than before, and that is intended.</span>
        </label>
      )}
      <label class="field">
        <span>Why</span>
        <input
          value={message}
          maxlength={1000}
          autocomplete="off"
          placeholder="Shown in the history of deployments"
          onInput={takeText(setMessage)}
        />
      </label>
    </ActionForm>
  )
}

/** Open runs keep the version that they have, and a stricter deployment takes nothing from them. */
const describeLaxer = (versions: readonly string[]): string =>
  ` Open runs of ${versions.join(', ')} keep what it does not allow; svc stop --version holds them.`

export function Difference({
  name,
  from,
  to,
}: {
  readonly name: string
  readonly from: string
  readonly to: string
}): View {
  const difference = useOperator('GET /difference', { query: { agent: name, from, to } }, aboutNothing)
  const read = difference.value
  return (
    <>
      <header class="screen-head section">
        <h2>
          From {safeText(from)} to {safeText(to)}
        </h2>
        <div class="buttons">
          <a class="button small" href={withQuery({ from: to, version: from })}>
            The other way
          </a>
          <a class="button small" href={withQuery({ from: undefined })}>
            Done
          </a>
        </div>
      </header>
      {read ? <ChangeList changes={read.changes} /> : showUnread(difference, 3)}
    </>
  )
}

/** Who made which version the active one, and why. */
export function DeploymentHistory({ name }: { readonly name: string }): View | null {
  const deployments = useOperator('GET /deployments', { query: { agent: name } }, aboutWorkspace)
  const items = deployments.value?.items ?? []
  if (items.length === 0) return null
  return (
    <>
      <h2 class="section">Deployments</h2>
      <Table label="Deployments" heads={['Version', 'When', 'By', 'Why', '']}>
        {items.map(({ versionLabel, from, at, by, message }) => (
          <tr key={at}>
            <td>
              {safeText(versionLabel)}
              {from !== null && <span class="dim"> after {safeText(from)}</span>}
            </td>
            <td class="when">
              <Age at={at} />
            </td>
            <td>{safeText(by)}</td>
            <td class="why-text">{message === null ? <span class="dim">nobody said</span> : safeText(message)}</td>
            <td class="actions">
              {from !== null && from !== versionLabel && (
                <a class="button small quiet" href={withQuery({ from, version: versionLabel })}>
                  What it changed
                </a>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}
