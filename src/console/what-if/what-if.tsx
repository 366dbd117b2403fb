/** What if: policies of a published version are edited, and recorded calls are decided by them. Nothing is deployed. */
import { createSignal } from '../wire/signal.ts'
import { useSignal } from '../wire/use-signal.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { WhatIfView } from '../../operations/decisions.ts'
import type { SourcesView } from '../../operations/versions.ts'
import type { WrittenFinding } from '../../spec/explanation.ts'
import { announce } from '../parts/announce.ts'
import { downloadText } from '../parts/download.ts'
import { Choice } from '../parts/choice.tsx'
import type { View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { EmptyState, ErrorNote, Loading, showUnread } from '../parts/states.tsx'
import { CodeEditor } from './code-editor.tsx'
import { FlipList } from './flip-list.tsx'
import { writePatch } from './patch.ts'
import { now } from '../wire/moment.ts'
import { address, goTo, withQuery } from '../wire/navigation.ts'
import { callOperator, findRefusal, type RequestError } from '../wire/request.ts'
import { aboutNothing, aboutWorkspace, useOperator } from '../wire/resource.ts'

const SINCE = [
  ['1', 'last day'],
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['', 'any time'],
] as const

/** Typed texts by agent, version and path, so that looking at a run in between loses nothing. */
const drafts = createSignal<ReadonlyMap<string, string>>(new Map())

export function WhatIfScreen(): View {
  const agents = useOperator('GET /agents', {}, aboutWorkspace)
  const { query } = address.value
  const deployed = agents.value?.items.filter((each) => each.deployed !== null) ?? []
  const agent = query.get('agent') ?? deployed[0]?.name
  if (!agents.value) return showUnread(agents)
  if (agent === undefined) return <EmptyState icon="policies" title="No agent is deployed yet." isScreen />
  const version = query.get('version') ?? deployed.find(({ name }) => name === agent)?.deployed?.versionLabel
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>What if</h1>
        <a class="button small" href="/policies/evals">
          Evals
        </a>
      </header>
      <p class="dim lead">
        Edit a policy and see which recorded calls it would decide otherwise. Nothing is deployed and nothing is sent.
      </p>
      <div class="filters">
        <Choice
          label="Agent"
          value={agent}
          onChoose={(name: string) => goTo(`/policies?agent=${encodeURIComponent(name)}`)}
          options={[...new Set([agent, ...deployed.map(({ name }) => name)])].map((name) => [name, name])}
        />
        <Choice
          label="Calls of the"
          value={query.get('since') ?? '7'}
          onChoose={(days: string) => goTo(withQuery({ since: days === '' ? 'all' : days }), true)}
          options={SINCE}
        />
        <Choice
          label="Calls by"
          value={query.get('calls') ?? ''}
          onChoose={(calls: string) => goTo(withQuery({ calls }), true)}
          options={[
            ['', 'every agent'],
            ['this', 'this agent'],
          ]}
        />
      </div>
      {version === undefined ? (
        <EmptyState icon="policies" title="This agent is not deployed." />
      ) : (
        <EditedVersion key={`${agent}@${version}`} agent={agent} version={version} />
      )}
    </section>
  )
}

function EditedVersion({ agent, version }: { readonly agent: string; readonly version: string }): View {
  const sources = useOperator('GET /sources', { query: { id: agent, version } }, aboutNothing)
  const read = sources.value
  if (!read)
    return sources.error ? (
      <EmptyState icon="files" title="The documents of this version were not kept.">
        <p class="dim">
          Publish it again with this version of svc, or use <code>svc policy backtest --policies PATH</code>.
        </p>
      </EmptyState>
    ) : (
      <Loading rows={8} />
    )
  const files = policyFilesOf(read)
  const path = address.value.query.get('file') ?? files[0]?.path
  const file = files.find((each) => each.path === path) ?? files[0]
  if (!file) return <EmptyState icon="policies" title="This version has no policy of its own." />
  return <EditedFile key={file.path} agent={agent} version={version} files={files} file={file} />
}

/** Files with a Policy document; what else is in a bundle is not edited here. */
const policyFilesOf = ({ files }: SourcesView): SourcesView['files'] =>
  files.filter(({ text }) => /^\s*"?kind"?:\s*"?'?Policy\b/m.test(text))

function EditedFile({
  agent,
  version,
  files,
  file,
}: {
  readonly agent: string
  readonly version: string
  readonly files: SourcesView['files']
  readonly file: SourcesView['files'][number]
}): View {
  const typed = useSignal(drafts)
  const keyOf = (path: string): string => `${agent}@${version}/${path}`
  const draftOf = ({ path, text }: SourcesView['files'][number]): string => typed.get(keyOf(path)) ?? text
  const text = draftOf(file)
  const [round, setRound] = useState(0)
  const [findings, setFindings] = useState<readonly WrittenFinding[]>([])
  const [answer, setAnswer] = useState<WhatIfView | undefined>(undefined)
  const [state, setState] = useState<'idle' | 'deciding'>('idle')
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const base = { agent, version }
  const edits = files
    .filter((each) => draftOf(each) !== each.text)
    .map((each) => ({ path: each.path, text: draftOf(each) }))
  useLint(base, file.path, text, setFindings)
  const setText = (next: string): void => {
    drafts.value = new Map([...drafts.value, [keyOf(file.path), next]])
  }
  const ask = async (): Promise<void> => {
    setState('deciding')
    const refusal = await findRefusal(async () => {
      const made = await callOperator('POST /what-if', { body: { base, edits, ...filterOf(agent) } })
      setFindings(made.findings.filter(({ path }) => path === file.path))
      setAnswer(made)
      announce(`${made.changes.reduce((sum, each) => sum + each.flips, 0)} of ${made.calls} decisions change.`)
    })
    setProblem(refusal)
    setState('idle')
  }
  const reset = (): void => {
    drafts.value = new Map([...drafts.value].filter(([key]) => !files.some(({ path }) => keyOf(path) === key)))
    setAnswer(undefined)
    setRound(round + 1)
  }
  const hasFault = answer?.calls === 0 && answer.findings.some(({ severity }) => severity === 'error')
  return (
    <div class="what-if">
      <div class="what-if-edit">
        <nav class="tabs" aria-label="Policies">
          {files.map((each) => (
            <a key={each.path} href={withQuery({ file: each.path })} aria-current={each === file ? 'page' : undefined}>
              {safeText(each.path)}
              {draftOf(each) !== each.text && (
                <span class="edited-mark" title="edited">
                  {' '}
                  ●<span class="unseen"> edited</span>
                </span>
              )}
            </a>
          ))}
        </nav>
        <CodeEditor
          key={`${file.path} ${round}`}
          text={text}
          label={`Text of ${file.path}`}
          findings={findings}
          onText={setText}
          onSubmit={() => void ask()}
        />
        {findings.length > 0 && (
          <ul class="findings" aria-label="Findings">
            {findings.slice(0, 5).map((each) => (
              <li key={`${each.rule} ${each.start}`} class={each.severity}>
                <b>{each.from}</b> {safeText(each.message)} <span class="dim">{safeText(each.rule)}</span>
              </li>
            ))}
          </ul>
        )}
        <div class="buttons">
          <button
            type="button"
            class="button primary"
            disabled={edits.length === 0 || state === 'deciding'}
            onClick={() => void ask()}
          >
            {state === 'deciding' ? 'Deciding…' : 'Decide again'}
          </button>
          <PatchButtons files={files} draftOf={draftOf} disabled={edits.length === 0} />
          <button type="button" class="button quiet" disabled={edits.length === 0} onClick={reset}>
            Undo all
          </button>
        </div>
      </div>
      <div class="what-if-answer" aria-busy={state === 'deciding'}>
        <ErrorNote error={problem} />
        {hasFault && (
          <p class="note bad" role="alert">
            <Icon name="warning" />
            <span>
              The text cannot be decided by:
              {safeText(answer.findings.find(({ severity }) => severity === 'error')?.message ?? '')}
            </span>
          </p>
        )}
        {!hasFault && answer && (
          <FlipList
            answer={answer}
            decide={(run: string, decision: string) =>
              callOperator('POST /decide', { body: { run, decision, base, edits } })
            }
          />
        )}
        {!hasFault && !answer && problem === undefined && (
          <EmptyState icon="policies" title="Change something, then decide again." />
        )}
      </div>
    </div>
  )
}

const DAY_MS = 86_400_000

function filterOf(agent: string): { readonly agent?: string; readonly since?: string } {
  const { query } = address.value
  const since = query.get('since') ?? '7'
  return {
    ...(query.get('calls') === 'this' && { agent }),
    ...(since !== 'all' && { since: new Date(now.value - Number(since) * DAY_MS).toISOString() }),
  }
}

/** Silence after which what was typed is linted. */
const LINT_MS = 250

function useLint(
  base: { readonly agent: string; readonly version: string },
  path: string,
  text: string,
  onFindings: (findings: readonly WrittenFinding[]) => void,
): void {
  const last = useRef(0)
  useEffect(() => {
    const mine = ++last.current
    const timer = setTimeout(() => {
      callOperator('POST /lint', { body: { base, edits: [{ path, text }] } }).then(
        ({ findings }) => mine === last.current && onFindings(findings),
        () => undefined,
      )
    }, LINT_MS)
    return () => clearTimeout(timer)
  }, [path, text])
}

/** The edit as a file for `git apply`, or on the clipboard. */
function PatchButtons({
  files,
  draftOf,
  disabled,
}: {
  readonly files: SourcesView['files']
  readonly draftOf: (file: SourcesView['files'][number]) => string
  readonly disabled: boolean
}): View {
  const patch = (): string => files.map((each) => writePatch(each.path, each.text, draftOf(each))).join('')
  const save = (): void => downloadText('policies.patch', 'text/x-diff', patch())
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(patch())
    announce('Copied the patch.')
  }
  return (
    <>
      <button type="button" class="button" disabled={disabled} onClick={save}>
        Save as patch
      </button>
      <button type="button" class="button" disabled={disabled} onClick={() => void copy()}>
        <Icon name="copy" />
        Copy
      </button>
    </>
  )
}
