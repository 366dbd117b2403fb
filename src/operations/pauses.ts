/** Pauses of agents, versions, tools and providers, and of everything. Source: docs/design/steering.md#pauses */
import { PAUSE_KINDS } from '../spec/steer/pause.ts'
import { boolean, nullable, object, oneOf, string, type ValueOf } from './schema.ts'

export const pauseView = object({
  kind: oneOf(...PAUSE_KINDS),
  name: string,
  paused: boolean,
  at: string,
  by: string,
  reason: nullable(string),
})
/** A pause or its end by an operator. */
export type PauseView = ValueOf<typeof pauseView>
