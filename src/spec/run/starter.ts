import type { TriggerId } from '../../base/ids.ts'

export type TriggerType = 'api' | 'scheduled' | 'operator'

/** Who started a root run. */
export interface RunStarter {
  readonly triggerType: TriggerType
  readonly triggeredBy: string | null
  /** The operator who started it through a key of one command; null = `triggeredBy` says who it was. */
  readonly person: string | null
  readonly triggerId: TriggerId | null
  readonly triggerName: string | null
}
