/** The graph, with its library, as a file of its own: most people never open it. */
import './first.ts'

export { GraphScreen } from './graph/graph-screen.tsx'
