/** The screen with the editor, and its library, as a file of its own: most people never open it. */
import './first.ts'
// Of other screens, too.
import './later.ts'

export { WhatIfScreen } from './what-if/what-if.tsx'
