/** Triggers of the project file. Source: docs/design/command-line.md#settings */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFailure } from '../../base/failure.ts'
import { runInDataDirectory } from '../../base/files/file-error.ts'
import { DEFAULT_TRIGGER_SETTINGS, type TriggerConfig } from '../../spec/project/config.ts'
import type { TriggerView } from '../../operations/triggers.ts'
import { readTextIfAny } from '../../base/files/sync-files.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { RemoteError } from '../../client/remote-error.ts'

/** Where the triggers of the file are known, so that those made by hand stay as they are. */
export interface FileTriggers {
  readonly dataDirectory: string
  /** Agent of triggers that name none. */
  readonly root: string
  /** The trigger of `svc dev`'s own key, which stays on. */
  readonly own: string
}

/**
 * Makes the triggers be what the project file says: creates and updates its own, and turns off those that left it, without
 * their rights. A trigger that was made by hand stays as it is, unless the file has one of its name.
 * @throws Failure `validation_failed` for a schedule that is none, `not_found` for an agent that is not deployed
 */
export async function createTriggers(
  operator: OperatorClient,
  configured: readonly TriggerConfig[],
  { dataDirectory, root, own }: FileTriggers,
): Promise<readonly TriggerView[]> {
  const known = readKnown(dataDirectory)
  const triggers: TriggerView[] = []
  for (const { agent = root, type, name = type, cron, timeZone, input, ...settings } of configured) {
    const { items } = await operator.call('GET /triggers', { query: { agent } })
    const existing = items.find((each) => each.name === name)
    const isUnchanged =
      existing?.type === type && existing.cron === (cron ?? null) && existing.timeZone === (timeZone ?? null)
    if (existing && isUnchanged) {
      // One that was turned off by hand stays off.
      const active = known.get(existing.triggerId) === 'off' ? { active: true } : {}
      const start = type === 'schedule' ? { input: input ?? {} } : {}
      // A limit or right that left the file is gone.
      const body = { ...DEFAULT_TRIGGER_SETTINGS, ...settings, ...start, ...active }
      triggers.push(await operator.call('PATCH /triggers/:id', { id: existing.triggerId, body }))
      continue
    }
    if (existing) await operator.call('DELETE /triggers/:id', { id: existing.triggerId, body: undefined })
    const body = {
      agent,
      type,
      name,
      ...(cron !== undefined && { cron }),
      ...(timeZone !== undefined && { timeZone }),
      ...(input !== undefined && { input }),
      ...settings,
    }
    triggers.push(await operator.call('POST /triggers', { body }))
  }
  const inFile = new Set(triggers.map(({ triggerId }) => triggerId))
  const left = [...known.keys()].filter((id) => !inFile.has(id))
  const off: string[] = []
  for (const id of left) if (await turnOff(operator, id, id === own)) off.push(id)
  writeKnown(dataDirectory, { on: [...inFile], off })
  return triggers
}

/** False where it is gone. */
async function turnOff(operator: OperatorClient, id: string, staysOn: boolean): Promise<boolean> {
  try {
    await operator.call('PATCH /triggers/:id', {
      id,
      body: { ...DEFAULT_TRIGGER_SETTINGS, ...(!staysOn && { active: false }) },
    })
    return true
  } catch (error) {
    const isGone = isFailure(error, 'not_found') || (error instanceof RemoteError && error.status === 404)
    if (!isGone) throw error
    return false
  }
}

interface KnownTriggers {
  /** Ids of those in the file. */
  readonly on: readonly string[]
  /** Ids of those that left it. */
  readonly off: readonly string[]
}

const FILE = 'dev-triggers.json'

function readKnown(dataDirectory: string): ReadonlyMap<string, 'on' | 'off'> {
  const text = readTextIfAny(join(dataDirectory, FILE))
  const { on, off } = (text === '' ? { on: [], off: [] } : JSON.parse(text)) as KnownTriggers
  return new Map([...off.map((id) => [id, 'off'] as const), ...on.map((id) => [id, 'on'] as const)])
}

function writeKnown(dataDirectory: string, known: KnownTriggers): void {
  runInDataDirectory(dataDirectory, () =>
    writeFileSync(join(dataDirectory, FILE), `${JSON.stringify(known)}\n`, { mode: 0o600 }),
  )
}
