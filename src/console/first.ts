/**
 * What the page starts with, as one file for the browser: it loads one sooner than several, and what they share is compressed
 * once. Everything that is loaded later imports this file, so that the bundler divides it no further.
 */
// Of the screens and of the graph.
import './parts/table.ts'

export { listenToKeys } from './parts/keys.ts'
export { copyExactTimes } from './parts/moments.ts'
export { EmptyState, Loading } from './parts/states.ts'
export { InboxScreen } from './views/inbox.ts'
export { applyColours, Shell } from './views/shell.ts'
export { signIn, SignInScreen, takeCode } from './views/sign-in.ts'
export { watchInbox } from './wire/inbox-count.ts'
export { openLive } from './wire/live.ts'
export { reportViolations } from './wire/reports.ts'
