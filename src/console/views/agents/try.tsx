/**
 * Starts a run: a form from the input contract of a version, the deployed one where none is chosen, in a new session or as the
 * next run of an ended one.
 */
import { useState } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { Conversation } from '../../../spec/api.ts'
import type { VersionView } from '../../../operations/versions.ts'
import { isTerminal } from '../../../spec/run/run.ts'
import { Choice } from '../../parts/choice.tsx'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { takeText } from '../../parts/input.ts'
import { LongText, referenceIn, StoredValue } from '../../parts/long-text.tsx'
import { EmptyState, ErrorNote, showUnread } from '../../parts/states.tsx'
import { address, goTo, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutAnySession, aboutNothing, aboutWorkspace, useOperator, useResource } from '../../wire/resource.ts'
import { hrefOfAgent } from './agents.tsx'
import { StartForm } from './start-form.tsx'

export function TryScreen({ id: name = '' }: { readonly id?: string }): View {
  const versions = useOperator('GET /versions', { query: { agent: name } }, aboutWorkspace)
  const items = versions.value?.items
  if (versions.error?.status === 404) return <EmptyState icon="agents" title="There is no such agent." isScreen />
  if (!items) return showUnread(versions)
  const asked = address.value.query.get('version')
  const usable = items.filter(({ yanked, deployed }) => !yanked || deployed)
  const chosen =
    asked === null
      ? (usable.find(({ deployed }) => deployed) ?? usable[0])
      : usable.find(({ versionLabel }) => versionLabel === asked)
  if (!chosen)
    return (
      <EmptyState
        icon="agents"
        title={
          asked === null
            ? 'This agent has no version that may be started.'
            : `Version ${safeText(asked)} is not published, or is yanked.`
        }
        isScreen
      />
    )
  return <TryVersion key={chosen.agentVersionId} name={name} version={chosen} others={usable} />
}

function TryVersion({
  name,
  version,
  others,
}: {
  readonly name: string
  readonly version: VersionView
  readonly others: readonly VersionView[]
}): View {
  const label = version.versionLabel
  const snapshot = useOperator('GET /snapshot', { query: { agent: name, version: label } }, aboutNothing)
  const status = useOperator('GET /status', {}, aboutNothing)
  const [model, setModel] = useState('')
  const { query } = address.value
  const after = query.get('after')
  const earlier = after ?? query.get('like')
  const given = useResource(
    `start ${earlier} ${after}`,
    async () =>
      earlier === null
        ? null
        : callOperator('GET /v1/runs/:id/conversation', {
            id: earlier,
            query: { take: '1', values: after === null ? undefined : 'ref' },
          }),
    after === null ? aboutNothing : aboutAnySession,
  )
  const written = snapshot.value
  if (!written) return showUnread(snapshot)
  const [read, error] = [given.value, given.error]
  const continued = after === null ? undefined : read?.session
  const obstacle = continued && obstacleOf(continued)
  // Without the session of `after` nothing is offered: it would start another one.
  const isReady = after === null ? read !== undefined || error !== undefined : continued && obstacle === undefined
  return (
    <section class="screen narrow">
      <a class="back-link" href={after === null ? hrefOfAgent(name) : `/runs/${encodeURIComponent(after)}`}>
        <Icon name="left" />
        {after === null ? safeText(name) : `Run ${safeText(shortId(after))}`}
      </a>
      <header class="screen-head">
        <h1>
          {after === null ? 'Try' : 'Go on with'} {safeText(name)}
          <span class="dim">@{safeText(label)}</span>
        </h1>
      </header>
      {continued && <LastOutput value={continued.output} />}
      <div class="filters">
        {others.length > 1 && (
          <Choice
            label="Version"
            value={label}
            onChoose={(next: string) => goTo(withQuery({ version: next }), true)}
            options={others.map((each) => [
              each.versionLabel,
              `${each.versionLabel}${each.deployed ? ' (deployed)' : ''}`,
            ])}
          />
        )}
        {status.value?.isDevelopment && !continued && (
          <label class="choice-of">
            <span class="dim">Model </span>
            <input
              value={model}
              list="models"
              autocomplete="off"
              placeholder={`${written.model.provider}/${written.model.name}`}
              onInput={takeText(setModel)}
            />
            <datalist id="models">
              <option value="auto/any">makes answers up, without a key</option>
            </datalist>
          </label>
        )}
      </div>
      <p class="note waiting">
        <Icon name="warning" />
        <span>
          {obstacle ??
            `This is a real run of ${version.deployed ? 'the deployed version' : `${safeText(label)}, which is not deployed`}${continued ? ', which knows what was said before' : ''}: its calls happen, as far as its policies let them.`}
        </span>
      </p>
      <ErrorNote error={error} />
      {isReady && (
        <StartForm
          key={earlier}
          name={name}
          version={version}
          contract={written.inputContract}
          given={after === null ? inputOf(earlier, read) : {}}
          session={continued}
          model={model}
        />
      )}
    </section>
  )
}

/** Why no run can be added to the session, as the server would refuse it. */
function obstacleOf({ status, erasedAt }: Conversation['session']): string | undefined {
  if (erasedAt !== undefined) return 'The content of this session was erased, so it cannot be continued.'
  if (!isTerminal(status)) return `A run of the session has not ended; its status is ${safeText(status)}.`
  return undefined
}

/** What the next message answers. */
function LastOutput({ value }: { readonly value: JsonValue }): View | null {
  if (value === null) return null
  const reference = referenceIn(value)
  return (
    <div class="said">
      <div class="message Output">
        <p class="message-head">
          <b>Output</b>
        </p>
        <div class="message-text">
          {reference ? (
            <StoredValue reference={reference} />
          ) : (
            <LongText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
          )}
        </div>
      </div>
    </div>
  )
}

/** What a run was started with; what is no object, or was erased, begins an empty form. */
function inputOf(id: string | null, read: Conversation | null | undefined): JsonObject {
  const input = read?.runs.find((run) => run.id === id)?.input ?? read?.session.input
  return isJsonObject(input) ? input : {}
}
