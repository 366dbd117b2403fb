/** Evaluations as a file of their own: who decides, or reads runs, does not open them. */
import './first.ts'
// Of other screens, too.
import './later.ts'

export { EvalsScreen } from './what-if/evals.tsx'
