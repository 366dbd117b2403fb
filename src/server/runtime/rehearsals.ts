/**
 * Runs of a development server that replay a recording, make one, or use another model than their agent's. Their options are
 * stored in the data directory, so that a run that waits over a restart does not continue with real models and tools.
 * Source: docs/design/models-and-tools.md#record-and-replay
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, isFailure } from '../../base/failure.ts'
import { fileFailure } from '../../base/files/file-error.ts'
import type { SessionId } from '../../base/ids.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { readBoundedText } from '../../base/files/read-bounded.ts'
import type { Redactor } from '../../base/secret.ts'
import { withModelCassette } from '../../providers/cassette.ts'
import type { ModelProviders } from '../../providers/provider.ts'
import { createReplay, printExchange, readExchanges, type Cassette } from '../../spec/project/cassette.ts'
import { canonicalProvider } from '../../spec/document.ts'
import type { RehearsalOptions } from '../../operations/runs.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import { withToolCassette } from '../../tools/routes/cassette.ts'
import type { Toolbox } from '../../tools/tool.ts'

export interface RehearsalRegistry {
  /**
   * Call it before the session starts.
   * @throws Failure `validation_failed` for a model that is not `provider/name`, and for a file that cannot be read or written or
   *   is not a recording
   */
  open(sessionId: SessionId, rehearsal: RehearsalOptions): void
  /** Rehearsed sessions, including ended ones. */
  sessionIds(): readonly SessionId[]
  /** Call it when the session failed to start or has ended. */
  forget(sessionId: SessionId): void
  models(real: ModelProviders): ModelProviders
  tools(real: Toolbox): Toolbox
}

interface OpenedRehearsal {
  readonly model?: { readonly provider: string; readonly name: string }
  readonly cassette: Cassette
}

/** @param directory where their options are stored; created with the first one */
export function createRehearsals(directory: string, redactor: Redactor): RehearsalRegistry {
  // Options stored by an earlier process are read when their session continues.
  const opened = new Map<string, OpenedRehearsal | undefined>(idsIn(directory).map((id) => [id, undefined]))
  const fileOf = (sessionId: string): string => join(directory, `${sessionId}.json`)

  const readOptions = (rehearsal: RehearsalOptions): OpenedRehearsal => ({
    ...(rehearsal.model !== undefined && { model: readModel(rehearsal.model) }),
    cassette: openCassette(rehearsal, redactor),
  })

  const of = (sessionId: string): OpenedRehearsal | undefined => {
    if (!opened.has(sessionId)) return undefined
    const known =
      opened.get(sessionId) ?? readOptions(JSON.parse(readFileSync(fileOf(sessionId), 'utf8')) as RehearsalOptions)
    opened.set(sessionId, known)
    return known
  }

  const toolsOf = (real: Toolbox, sessionId: string | undefined): Toolbox => {
    const rehearsal = sessionId === undefined ? undefined : of(sessionId)
    return rehearsal ? withToolCassette(real, rehearsal.cassette) : real
  }

  return {
    open(sessionId, rehearsal) {
      const read = readOptions(rehearsal)
      const { record } = rehearsal
      // A recording holds one run: exchanges left in the file by an earlier run would be replayed first.
      if (record !== undefined) {
        // Only a recording is replaced, never another file whose path was given by mistake.
        if (existsSync(record)) useTape(record, 'read', () => readExchanges(readBoundedText(record)))
        useTape(record, 'written', () => writeFileSync(record, '', { mode: 0o600 }))
      }
      makeDirectory(directory, 0o700)
      writeFileSync(fileOf(sessionId), JSON.stringify(rehearsal), { mode: 0o600 })
      opened.set(sessionId, read)
    },
    sessionIds: () => [...opened.keys()] as SessionId[],
    forget(sessionId) {
      opened.delete(sessionId)
      rmSync(fileOf(sessionId), { force: true })
    },
    models(real) {
      const modelsOf = (sessionId: string | undefined): ModelProviders => {
        const rehearsal = sessionId === undefined ? undefined : of(sessionId)
        if (!rehearsal) return real
        const { model: other, cassette } = rehearsal
        return withModelCassette(other ? withOtherModel(real, other) : real, cassette)
      }
      return {
        choose: (agent, model, sessionId) => modelsOf(sessionId).choose(agent, model, sessionId),
        maxOutputTokens: (model, sessionId) => modelsOf(sessionId).maxOutputTokens(model),
        terms: (model, sessionId) => modelsOf(sessionId).terms(model),
      }
    },
    tools: (real) => ({
      route(agent, tool) {
        const route = real.route(agent, tool)
        if (!route) return undefined
        return {
          ...route,
          invoke(invocation, signal) {
            const rehearsed = toolsOf(real, invocation.run.sessionId).route(agent, tool)
            return (rehearsed ?? route).invoke(invocation, signal)
          },
        }
      },
      describe: (agent, tool, signal, sessionId) => toolsOf(real, sessionId).describe(agent, tool, signal),
      findUnsetSecret: (agent, sessionId) => toolsOf(real, sessionId).findUnsetSecret(agent),
      close: () => real.close(),
    }),
  }
}

/** Replaces the model of every agent. Address, key and options of the document's model are kept only for the same provider. */
function withOtherModel(
  real: ModelProviders,
  { provider, name }: { readonly provider: string; readonly name: string },
): ModelProviders {
  const variable = KEYS[provider]
  const otherThan = (model: SnapshotModel): SnapshotModel => {
    const { parameters, reasoning } = model
    return provider === model.provider
      ? { ...model, name }
      : { provider, name, ...(parameters && { parameters }), ...(reasoning && { reasoning }) }
  }
  return {
    maxOutputTokens: (model) => real.maxOutputTokens(otherThan(model)),
    terms: (model) => real.terms(otherThan(model)),
    choose(agent, model) {
      const other = otherThan(model)
      const secrets = { ...(variable !== undefined && { [provider]: { fromEnv: variable } }), ...agent.secrets }
      const chosen = real.choose({ ...agent, secrets }, other)
      return { complete: (request, signal) => chosen.complete({ ...request, model: other }, signal) }
    },
  }
}

/** Environment variables with the keys of vendors that the agent's document does not configure. */
const KEYS: Readonly<Record<string, string>> = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY' }

function readModel(text: string): NonNullable<OpenedRehearsal['model']> {
  const [, provider, name] = /^([^/]+)\/(.+)$/.exec(text) ?? []
  if (provider === undefined || name === undefined)
    throw fail(
      'validation_failed',
      { what: `"${text}" names no model.` },
      { fix: 'Write PROVIDER/NAME, such as anthropic/claude-sonnet-5 or auto/any.' },
    )
  return { provider: canonicalProvider(provider), name }
}

function openCassette({ record, replay }: RehearsalOptions, redactor: Redactor): Cassette {
  if (replay !== undefined) {
    if (!existsSync(replay)) throw fail('not_found', { what: `recording ${replay}` })
    return { replay: createReplay(useTape(replay, 'read', () => readExchanges(readBoundedText(replay)))) }
  }
  if (record === undefined) return {}
  // Written synchronously and in order: a recording without its end cannot be replayed.
  return {
    record: (exchange) =>
      useTape(record, 'written', () => appendFileSync(record, printExchange(redactor.json(exchange)), { mode: 0o600 })),
  }
}

/** @throws Failure `validation_failed` in place of an error of the file system, and for a file that is not a recording */
function useTape<T>(path: string, doing: 'read' | 'written', use: () => T): T {
  try {
    return use()
  } catch (error) {
    if (isFailure(error, 'config_invalid')) throw fail('validation_failed', { what: `${path}: ${error.message}` })
    const found = fileFailure(error, { path, doing })
    if (!found) throw error
    throw fail('validation_failed', { what: found.message }, { fix: 'Choose another path.', cause: error })
  }
}

const idsIn = (directory: string): string[] =>
  existsSync(directory) ? readdirSync(directory).map((name) => name.replace(/\.json$/, '')) : []
