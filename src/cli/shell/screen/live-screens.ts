/** Finds the screen that draws on a stream, so that messages go above its status block and never into it. */
import type { OutputSink } from '../../../terminal/output-sink.ts'
import type { Screen } from '../../../terminal/screen.ts'

export const liveScreens = new WeakMap<OutputSink, Screen>()
