/**
 * What the page starts with, as one file for the browser: it loads one sooner than several, and what they share is compressed
 * once. Everything that is loaded later imports this file, so that the bundler divides it no further.
 */
// Of the screens and of the graph.
import './parts/table.tsx'

export { startPage, type ScreenComponent, type ScreenTable } from './page.tsx'
export { provideCeremonies } from './passkey/load-ceremonies.ts'
export { InboxScreen } from './views/inbox/inbox.tsx'
