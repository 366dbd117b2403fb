import type { StreamEvent, TimelineItem } from './generated/api.ts'

/** The step that an event is about; undefined for other events, and for text that arrives while the model writes. */
export const stepOf = (event: StreamEvent): TimelineItem | undefined =>
  event.kind === 'step' && event.subject !== 'engine.step.delta' ? event.data.step : undefined
