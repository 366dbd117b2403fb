/** For programs that embed svc: the same doors the command line uses. The client of the HTTP interface is a package of its own, `@svc-agents/client`. */
export { compileClosure } from './compile/compile.ts'
export { lintWorkspace } from './documents/lint/lint.ts'
export { loadWorkspace } from './documents/workspace/load.ts'
export { openServer } from './server/open.ts'
