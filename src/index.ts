/** For programs that embed svc: the same doors the command line uses. The client of the HTTP interface is `svc/client`. */
export { compile } from './compile/compile.ts'
export { lint } from './documents/lint.ts'
export { loadWorkspace } from './documents/load.ts'
export { openServer } from './server/open.ts'
