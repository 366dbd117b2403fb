import type { StreamEvent, TimelineItem } from './generated/api.ts'

/** The step that an event is about; undefined for other events, and for what is told while a step goes on. */
export const stepOf = (event: StreamEvent): TimelineItem | undefined =>
  event.kind === 'step' && 'step' in event.data ? event.data.step : undefined
