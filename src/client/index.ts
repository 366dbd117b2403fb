/** What the command line uses of the client library, which is a package of its own: `clients/typescript`. */
export * from '../../clients/typescript/src/index.ts'
export { toAnswerBody } from '../../clients/typescript/src/tasks.ts'
